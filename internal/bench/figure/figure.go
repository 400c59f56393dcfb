// Package figure holds measurements, and writes numbers for people.
package figure

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Figure is the measurement of one round of a workload.
type Figure struct {
	Rate      float64 // jobs a second; 0 where the workload measures latencies alone
	Latencies map[string]Percentiles
}

// Percentiles are the 50th, 95th, 99th and 99.9th percentile in milliseconds. One is 0 where too few samples were
// taken.
type Percentiles [4]float64

var percentileRanks = [4]float64{50, 95, 99, 99.9}

// samplesForTail is from how many samples on the 99.9th percentile is not simply the largest.
const samplesForTail = 1000

// PercentilesOf returns the percentiles of samples.
func PercentilesOf(milliseconds []float64) Percentiles {
	var p Percentiles
	if len(milliseconds) == 0 {
		return p
	}
	for i, rank := range percentileRanks {
		if i < 3 || len(milliseconds) >= samplesForTail {
			p[i] = Percentile(milliseconds, rank)
		}
	}
	return p
}

// MedianOf is the median of each part of the figures; a percentile that some lack is that of the others.
func MedianOf(figures []Figure) Figure {
	of := func(part func(f Figure) float64) float64 {
		var values []float64
		for _, f := range figures {
			if v := part(f); v != 0 {
				values = append(values, v)
			}
		}
		if len(values) == 0 {
			return 0
		}
		return Median(values)
	}
	result := Figure{Rate: of(func(f Figure) float64 { return f.Rate }), Latencies: map[string]Percentiles{}}
	for _, name := range slices.Sorted(maps.Keys(figures[0].Latencies)) {
		var p Percentiles
		for i := range p {
			p[i] = of(func(f Figure) float64 { return f.Latencies[name][i] })
		}
		result.Latencies[name] = p
	}
	return result
}

// Percentile is the smallest value that p percent of all do not exceed.
func Percentile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	// In thousandths, so that 99.9 percent of a thousand are 999.
	rank := (len(sorted)*int(10*p) + 999) / 1000
	return sorted[max(0, rank-1)]
}

// Median returns the middle value, or the mean of the two in the middle.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if half := len(sorted) / 2; len(sorted)%2 == 0 {
		return (sorted[half-1] + sorted[half]) / 2
	}
	return sorted[len(sorted)/2]
}

// Milliseconds returns a duration as a number, as [Percentiles] are.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// String is for the log.
func (f Figure) String() string {
	var parts []string
	if f.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%.4g/s", f.Rate))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Latencies)) {
		parts = append(parts, name+" "+f.Latencies[name].String()+" ms")
	}
	return strings.Join(parts, ", ")
}

// String shows the percentiles with slashes in between, and a dash for one that is not known.
func (p Percentiles) String() string {
	var parts [len(p)]string
	for i, v := range p {
		parts[i] = "–"
		if v > 0 {
			parts[i] = Round2(v)
		}
	}
	return strings.Join(parts[:], " / ")
}

// First is the part of a figure by which rounds are compared: the rate, or the median of a latency.
func (f Figure) First() float64 {
	if f.Rate > 0 {
		return f.Rate
	}
	for _, name := range slices.Sorted(maps.Keys(f.Latencies)) {
		return f.Latencies[name][0]
	}
	return 0
}
