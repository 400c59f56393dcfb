package queueui

import (
	"fmt"
	"math"
	"time"

	"github.com/postroom-go/postroom/queue/queueadmin"
)

// barStep is the width of a bucket in a chart, and barWidth the width of its bar.
const (
	barStep  = 10
	barWidth = 8
	barTop   = 100 // the height of the tallest
)

// A chart shows the jobs that finished with one outcome, bucket by bucket.
type chart struct {
	Name    string // also its style
	Label   string
	Summary string // for screen readers
	Max     int
	Per     string // the duration that Max refers to
	Bars    []bar
	Width   int
	Ticks   []string // the times along its foot, evenly
}

// A bar is one bucket.
type bar struct {
	X, Y, W, H float64
	N          int
	Title      string
}

func charts(stats *queueadmin.Stats, finished []queueadmin.Throughput) []chart {
	kinds := []struct {
		name, label string
		of          func(queueadmin.Throughput) int
	}{
		{"completed", "Completed", func(t queueadmin.Throughput) int { return t.Completed }},
		{"failed", "Failed", func(t queueadmin.Throughput) int { return t.Failed }},
	}
	out := make([]chart, len(kinds))
	for i, kind := range kinds {
		values := make([]int, len(finished))
		total := 0
		for j, t := range finished {
			values[j] = kind.of(t)
			total += values[j]
		}
		c := chart{Name: kind.name, Label: kind.label, Max: maxOf(values), Per: per(stats.Bucket),
			Width: max(1, len(values)) * barStep, Ticks: ticks(stats)}
		c.Bars = bars(values, c.Max)
		for j := range c.Bars {
			from := stats.Since.Add(time.Duration(c.Bars[j].at()) * stats.Bucket)
			c.Bars[j].Title = fmt.Sprintf("%s to %s: %s %s", hour(stats, from), hour(stats, from.Add(stats.Bucket)),
				count(c.Bars[j].N, 0), kind.name)
		}
		c.Summary = fmt.Sprintf("%s from %s to %s UTC: %s in all, at most %s in %s",
			kind.label, hour(stats, stats.Since), hour(stats, stats.At), count(total, 0), count(c.Max, 0),
			per(stats.Bucket))
		out[i] = c
	}
	return out
}

// at returns the bucket of the bar.
func (b bar) at() int { return int(b.X) / barStep }

// bars leaves out empty buckets. The smallest bar is visible.
func bars(values []int, top int) []bar {
	var out []bar
	for i, n := range values {
		if n == 0 {
			continue
		}
		height := math.Max(2, math.Round(float64(n)/float64(top)*barTop*10)/10)
		out = append(out, bar{X: float64(i*barStep + (barStep-barWidth)/2), Y: barTop - height, W: barWidth, H: height,
			N: n})
	}
	return out
}

func maxOf(values []int) int {
	top := 0
	for _, v := range values {
		top = max(top, v)
	}
	return top
}

func ticks(stats *queueadmin.Stats) []string {
	const n = 5
	out := make([]string, n)
	for i := range out {
		out[i] = hour(stats, stats.Since.Add(stats.At.Sub(stats.Since)*time.Duration(i)/(n-1)))
	}
	return out
}

// hour formats an instant with the precision of the buckets.
func hour(stats *queueadmin.Stats, at time.Time) string {
	if stats.Bucket >= time.Hour {
		return at.Format("Jan 2 15:04")
	}
	return at.Format("15:04")
}

func per(bucket time.Duration) string {
	switch {
	case bucket == time.Minute:
		return "a minute"
	case bucket < time.Hour:
		return fmt.Sprintf("%d minutes", int(bucket.Minutes()))
	default:
		return fmt.Sprintf("%d hours", int(bucket.Hours()))
	}
}

// A span is a latency on a logarithmic scale from 1 ms to a day, of width spanWidth.
type span struct {
	queueadmin.Latency
	P50X, P95X, MaxX float64
}

const (
	spanWidth = 100
	spanFrom  = time.Millisecond
	spanTo    = 24 * time.Hour
)

func spanOf(l queueadmin.Latency) span {
	return span{Latency: l, P50X: logScale(l.P50), P95X: logScale(l.P95), MaxX: logScale(l.Max)}
}

func logScale(d time.Duration) float64 {
	d = min(max(d, spanFrom), spanTo)
	share := math.Log(float64(d)/float64(spanFrom)) / math.Log(float64(spanTo)/float64(spanFrom))
	return math.Round(share*spanWidth*10) / 10
}
