package learn

import (
	"math"
	"slices"
)

// MinAnswers is how many answers there must be before a threshold is proposed: with one wrong of 46 the lower bound is
// just above [MinLower].
const MinAnswers = 46

// MinLower is what the lower bound of the precision of decisions at a threshold must reach.
const MinLower = 0.90

// bins is the number of equal parts of the confidences from 0 to 1.
const bins = 10

// An Answer is what became of a decision that was made with a confidence.
type Answer struct {
	Confidence float64 // 0 to 1
	Right      bool
}

// A Bin counts the answers to decisions with a confidence from From, and below To; the last has To as well.
type Bin struct {
	From, To     float64
	Right, Wrong int
}

// A Calibration compares how sure decisions were with how many of them were right.
type Calibration struct {
	Answers int
	Bins    []Bin // ten
	// Threshold is the smallest confidence, in hundredths, with a lower bound of MinLower or more for the decisions that
	// have it or more; Right of Covered answers are to those. It is 0 if none has, or for fewer than MinAnswers answers.
	Threshold      float64
	Right, Covered int
}

// Lower is the lower bound of the precision of the decisions at the threshold; 0 without one.
func (c *Calibration) Lower() float64 {
	if c.Covered == 0 {
		return 0
	}
	return LowerBound(c.Right, c.Covered)
}

// Calibrate compares the confidences of decisions with the answers to them. Confidences that are no number from 0 to 1
// are left out.
func Calibrate(answers []Answer) Calibration {
	c := Calibration{Bins: make([]Bin, bins)}
	for i := range c.Bins {
		c.Bins[i].From, c.Bins[i].To = float64(i)/bins, float64(i+1)/bins
	}
	var right, wrong [101]int // by hundredths, rounded down: a threshold keeps them all
	for _, a := range answers {
		if !(a.Confidence >= 0 && a.Confidence <= 1) {
			continue
		}
		at := hundredth(a.Confidence)
		bin := &c.Bins[min(at/bins, bins-1)]
		c.Answers++
		if a.Right {
			right[at]++
			bin.Right++
		} else {
			wrong[at]++
			bin.Wrong++
		}
	}
	if c.Answers < MinAnswers {
		return c
	}
	sure, all := 0, 0
	for at, n := range slices.Backward(right[:]) {
		sure, all = sure+n, all+n+wrong[at]
		if at > 0 && n+wrong[at] > 0 && LowerBound(sure, all) >= MinLower {
			c.Threshold, c.Right, c.Covered = float64(at)/100, sure, all
		}
	}
	return c
}

// hundredth is a confidence in hundredths, rounded down. One such as 0.29, whose product with 100 is a little less than
// 29, is its own.
func hundredth(confidence float64) int { return int(math.Floor(confidence*100 + 1e-9)) }
