package queueui

import (
	"fmt"
	"math"
	"time"

	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A chart shows the jobs that finished with one outcome, bucket by bucket.
type chart struct {
	Name    string // also its style
	Label   string
	Summary string // for screen readers
	Max     int
	Per     string // the duration that Max refers to
	Bars    []webui.Bar
	Width   int
	Ticks   []string // the times along its foot, evenly
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
		c := chart{Name: kind.name, Label: kind.label, Max: webui.MaxOf(values), Per: per(stats.Bucket),
			Width: max(1, len(values)) * webui.BarStep, Ticks: ticks(stats)}
		c.Bars = webui.Bars(values, c.Max)
		for j := range c.Bars {
			from := stats.Since.Add(time.Duration(c.Bars[j].Bucket()) * stats.Bucket)
			c.Bars[j].Title = fmt.Sprintf("%s to %s: %s %s", hour(stats, from), hour(stats, from.Add(stats.Bucket)),
				webui.Count(c.Bars[j].N, 0), kind.name)
		}
		c.Summary = fmt.Sprintf("%s from %s to %s UTC: %s in all, at most %s in %s",
			kind.label, hour(stats, stats.Since), hour(stats, stats.At), webui.Count(total, 0), webui.Count(c.Max, 0),
			per(stats.Bucket))
		out[i] = c
	}
	return out
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
