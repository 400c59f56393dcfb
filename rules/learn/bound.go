package learn

import (
	"fmt"
	"math"
)

// The error of every bound here: in one case of twenty the true precision is lower.
const oneSidedError = 0.05

// LowerBound returns the exact lower bound of the precision of a rule that was right in right of n cases: the true
// precision is at least that, with a confidence of 95 % (Clopper and Pearson, one-sided). It is 0 without a case that
// was right. Counts that cannot be panic: right must be within 0 and n.
func LowerBound(right, n int) float64 {
	if right < 0 || right > n {
		panic(fmt.Sprintf("learn: LowerBound: %d of %d cases", right, n))
	}
	if right == 0 {
		return 0
	}
	low, high := 0.0, 1.0
	for range 60 { // as exact as a float64 between 0 and 1 needs
		middle := low + (high-low)/2
		if atLeast(right, n, middle) < oneSidedError {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// atLeast returns the probability that at least right of n cases come out, each with probability p. It adds the terms
// of the shorter tail, from the edge inwards, so that small probabilities keep their digits.
func atLeast(right, n int, p float64) float64 {
	switch {
	case right <= 0 || p >= 1:
		return 1
	case p <= 0:
		return 0
	}
	if float64(right) > p*float64(n) {
		return tail(right, n, 1, p)
	}
	return 1 - tail(right-1, n, -1, p)
}

// tail adds the probabilities of from, from+step and so on, which fall with each step.
func tail(from, n, step int, p float64) float64 {
	sum := 0.0
	term := math.Exp(logChoose(n, from) + float64(from)*math.Log(p) + float64(n-from)*math.Log1p(-p))
	odds := p / (1 - p)
	for i := from; i >= 0 && i <= n; i += step {
		sum += term
		if term < sum*1e-17 {
			break
		}
		if step > 0 {
			term *= odds * float64(n-i) / float64(i+1)
		} else {
			term *= float64(i) / (odds * float64(n-i+1))
		}
	}
	return min(sum, 1)
}

func logChoose(n, k int) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	chosen, _ := math.Lgamma(float64(k + 1))
	rest, _ := math.Lgamma(float64(n - k + 1))
	return all - chosen - rest
}
