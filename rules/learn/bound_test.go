package learn

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// exactly is the probability of at least right of n, term by term, with 300 bits.
func exactly(right, n int, chance float64) float64 {
	number := func(x float64) *big.Float { return big.NewFloat(x).SetPrec(300) }
	p := number(chance)
	sum, q := number(0), new(big.Float).Sub(number(1), p)
	power := func(x *big.Float, n int) *big.Float {
		y := number(1)
		for range n {
			y.Mul(y, x)
		}
		return y
	}
	for i := right; i <= n; i++ {
		term := number(0).SetInt(new(big.Int).Binomial(int64(n), int64(i)))
		term.Mul(term, power(p, i))
		sum.Add(sum, term.Mul(term, power(q, n-i)))
	}
	result, _ := sum.Float64()
	return result
}

func TestLowerBoundOfKnownCounts(t *testing.T) {
	for _, c := range []struct {
		right, n int
		want     float64
	}{ // the roots of 0.05, where nothing was wrong
		{0, 0, 0}, {0, 7, 0}, {1, 1, 0.05}, {3, 3, 0.368403}, {5, 5, 0.549280}, {28, 28, 0.898541}, {29, 29, 0.901855},
	} {
		require.InDelta(t, c.want, LowerBound(c.right, c.n), 1e-5, "%d of %d", c.right, c.n)
	}
	require.Less(t, LowerBound(44, 45), 0.90)
	require.GreaterOrEqual(t, LowerBound(45, 46), 0.90, "46 answers, of which one is wrong")
	require.Panics(t, func() { LowerBound(3, 2) })
	require.Panics(t, func() { LowerBound(-1, 2) })
}

func TestLowerBoundIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 120).Draw(t, "n")
		right := rapid.IntRange(1, n).Draw(t, "right")
		require.InDelta(t, oneSidedError, exactly(right, n, LowerBound(right, n)), 1e-9)
		require.Less(t, LowerBound(right, n), float64(right)/float64(n))
		require.Less(t, LowerBound(right-1, n), LowerBound(right, n), "one more that is right")
		require.Less(t, LowerBound(right, n+1), LowerBound(right, n), "one more that is wrong")
		require.Greater(t, LowerBound(right+1, n+1), LowerBound(right, n), "one more case, and it is right")
	})
}

// Whatever the true precision is, the bound is above it in at most one case of twenty.
func TestLowerBoundHoldsInNineteenOfTwentyCases(t *testing.T) {
	for _, n := range []int{5, 29, 60} {
		for percent := 1; percent < 100; percent += 7 {
			truth, tooHigh := float64(percent)/100, 0.0
			for right := range n + 1 {
				if LowerBound(right, n) > truth {
					tooHigh = exactly(right, n, truth) // and all above it
					break
				}
			}
			require.LessOrEqual(t, tooHigh, oneSidedError+1e-12, "n %d, precision %v", n, truth)
		}
	}
}

func TestLowerBoundOfManyCases(t *testing.T) {
	require.InDelta(t, 0.98, LowerBound(980_000, 1_000_000), 0.001)
	require.InDelta(t, 0.5, LowerBound(500_000, 1_000_000), 0.001)
	require.InDelta(t, 1, atLeast(3, 10, 1), 0)
	require.InDelta(t, 0, atLeast(3, 10, 0), 0)
	require.InDelta(t, 1, atLeast(0, 10, 0), 0)
}

func TestClasses(t *testing.T) {
	first := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	evidence := func(agreeing, against, days int, span time.Duration) Evidence {
		return Evidence{Agreeing: agreeing, Contradicting: against, HeldOut: (agreeing + against + 3) / 4, Days: days,
			First: first, Last: first.Add(span)}
	}
	const week = 7 * 24 * time.Hour
	for want, list := range map[Class][]Evidence{
		ClassHigh:   {evidence(29, 0, 9, 3*week), evidence(45, 1, 9, 3*week), evidence(500, 20, 9, 4*week)},
		ClassMedium: {evidence(28, 0, 9, 3*week), evidence(29, 0, 9, 3*week-1), evidence(5, 0, 3, week)},
		ClassLow: {evidence(44, 1, 9, 3*week), evidence(4, 0, 4, week), evidence(3, 0, 3, week), evidence(3, 9, 9, week),
			evidence(500, 0, 2, 4*week)},
		ClassNone: {evidence(2, 0, 2, week), evidence(0, 9, 9, week), {}},
	} {
		for _, e := range list {
			require.Equal(t, want, e.Class(), fmt.Sprintf("%+v", e))
		}
	}
	e := evidence(76, 3, 40, 9*week)
	require.Equal(t, ClassHigh, e.Class())
	e.HeldOutContradicting = 3 // of 20: it was right, and is no more
	require.Equal(t, ClassLow, e.Class())
}
