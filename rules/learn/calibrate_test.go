package learn

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// answersOf are answers to decisions of one confidence.
func answersOf(confidence float64, right, wrong int) (list []Answer) {
	for i := range right + wrong {
		list = append(list, Answer{confidence, i < right})
	}
	return list
}

func TestAProposedThresholdIsProven(t *testing.T) {
	require.GreaterOrEqual(t, LowerBound(MinAnswers-1, MinAnswers), MinLower)
	require.Less(t, LowerBound(MinAnswers-2, MinAnswers-1), MinLower, "one answer fewer proves less")
	for name, c := range map[string]struct {
		answers   []Answer
		threshold float64
	}{
		"none":                       {},
		"too few":                    {answers: answersOf(0.9, 45, 0)},
		"enough":                     {answers: answersOf(0.9, 45, 1), threshold: 0.9},
		"two wrong":                  {answers: answersOf(0.9, 44, 2)},
		"the smallest":               {answers: append(answersOf(0.9, 40, 0), answersOf(0.29, 20, 0)...), threshold: 0.29},
		"not below what is doubtful": {answers: append(answersOf(0.95, 60, 0), answersOf(0.5, 10, 10)...), threshold: 0.95},
		"rounded down":               {answers: answersOf(0.919, 50, 0), threshold: 0.91},
		"sure":                       {answers: answersOf(1, 50, 0), threshold: 1},
		"never 0":                    {answers: answersOf(0, 50, 0)},
		"no number":                  {answers: append(answersOf(math.NaN(), 50, 0), answersOf(1.5, 50, 0)...)},
	} {
		got := Calibrate(c.answers)
		require.InDelta(t, c.threshold, got.Threshold, 1e-9, name)
		require.Equal(t, c.threshold > 0, got.Lower() >= MinLower, name)
	}
}

func TestTheBinsOfConfidences(t *testing.T) {
	c := Calibrate([]Answer{{0, false}, {0.0999, true}, {0.1, true}, {0.3, false}, {0.7, true}, {0.95, true}, {1, false}})
	require.Equal(t, 7, c.Answers)
	require.Len(t, c.Bins, 10)
	right, wrong := map[int]int{}, map[int]int{}
	for i, b := range c.Bins {
		if b.Right > 0 {
			right[i] = b.Right
		}
		if b.Wrong > 0 {
			wrong[i] = b.Wrong
		}
	}
	require.Equal(t, map[int]int{0: 1, 1: 1, 7: 1, 9: 1}, right)
	require.Equal(t, map[int]int{0: 1, 3: 1, 9: 1}, wrong)
	require.InDelta(t, 0.3, c.Bins[3].From, 1e-9)
}
