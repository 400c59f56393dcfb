package figure

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedianAndPercentiles(t *testing.T) {
	require.InDelta(t, 2, Median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 2.5, Median([]float64{4, 1, 3, 2}), 0)
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	require.InDelta(t, 50, Percentile(hundred, 50), 0)
	require.InDelta(t, 99, Percentile(hundred, 99), 0)
	require.InDelta(t, 7, Percentile([]float64{7}, 99), 0)
}

func TestNumbersAreRoundedForPeople(t *testing.T) {
	require.Equal(t, "1,230,000", Round3(1_234_567))
	require.Equal(t, "123", Round3(123.4))
	require.Equal(t, "12.3", Round3(12.34))
	require.Equal(t, "0.57", Round2(0.5678))
	require.Equal(t, "1,000", Count(1000))
	require.Equal(t, "999", Count(999))
}

func TestTheTailNeedsAThousandSamples(t *testing.T) {
	samples := make([]float64, 1000)
	for i := range samples {
		samples[i] = float64(1000 - i)
	}
	require.Equal(t, Percentiles{500, 950, 990, 999}, PercentilesOf(samples))
	require.Equal(t, "500 / 950 / 990 / 999", PercentilesOf(samples).String())
	require.Zero(t, PercentilesOf(samples[1:])[3])
	require.Equal(t, "– / – / – / –", PercentilesOf(nil).String())
}

func TestMediansAreOfTheRoundsThatHaveAPart(t *testing.T) {
	figure := MedianOf([]Figure{
		{Rate: 1, Latencies: map[string]Percentiles{"call": {1, 2, 3, 0}}},
		{Rate: 9, Latencies: map[string]Percentiles{"call": {2, 3, 4, 8}}},
		{Rate: 2, Latencies: map[string]Percentiles{"call": {9, 9, 9, 6}}},
	})
	require.Equal(t, Figure{Rate: 2, Latencies: map[string]Percentiles{"call": {2, 3, 4, 7}}}, figure)
}
