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

func charts(stats *queueadmin.Stats, finished []queueadmin.Throughput, zone *time.Location) []chart {
	kinds := []struct {
		name, label string
		of          func(queueadmin.Throughput) int
	}{
		{"completed", "Completed", func(t queueadmin.Throughput) int { return t.Completed }},
		{"failed", "Failed", func(t queueadmin.Throughput) int { return t.Failed }},
	}
	if zone == nil {
		zone = time.UTC
	}
	hour := func(stats *queueadmin.Stats, at time.Time) string { return hour(stats, at.In(zone)) }
	out := make([]chart, len(kinds), len(kinds)+1)
	for i, kind := range kinds {
		values := make([]int, len(finished))
		total := 0
		for j, t := range finished {
			values[j] = kind.of(t)
			total += values[j]
		}
		c := chart{Name: kind.name, Label: kind.label, Max: webui.MaxOf(values), Per: per(stats.Bucket),
			Width: max(1, len(values)) * webui.BarStep, Ticks: ticks(stats, zone)}
		c.Bars = webui.Bars(values, c.Max)
		for j := range c.Bars {
			from := stats.Since.Add(time.Duration(c.Bars[j].Bucket()) * stats.Bucket)
			c.Bars[j].Title = fmt.Sprintf("%s to %s: %s %s", hour(stats, from), hour(stats, from.Add(stats.Bucket)),
				webui.Count(c.Bars[j].N, 0), kind.name)
		}
		c.Summary = fmt.Sprintf("%s from %s to %s %s: %s in all, at most %s in %s",
			kind.label, hour(stats, stats.Since), hour(stats, stats.At), zone, webui.Count(total, 0), webui.Count(c.Max, 0),
			per(stats.Bucket))
		out[i] = c
	}
	if stats.Open != nil {
		out = append(out, backlog(stats, hour))
	}
	return out
}

// backlog is the chart of the jobs that were open.
func backlog(stats *queueadmin.Stats, hour func(*queueadmin.Stats, time.Time) string) chart {
	c := chart{Name: "open", Label: "Backlog: queued or running", Max: webui.MaxOf(stats.Open), Per: "all",
		Width: max(1, len(stats.Open)) * webui.BarStep}
	c.Bars = webui.Bars(stats.Open, c.Max)
	for j := range c.Bars {
		at := stats.Since.Add(time.Duration(c.Bars[j].Bucket()+1) * stats.Bucket)
		c.Bars[j].Title = fmt.Sprintf("%s: %s", hour(stats, at), webui.Count(c.Bars[j].N, 0))
	}
	now := 0
	if len(stats.Open) > 0 {
		now = stats.Open[len(stats.Open)-1]
	}
	c.Summary = fmt.Sprintf("Jobs queued or running from %s to %s: at most %s, now %s", hour(stats, stats.Since),
		hour(stats, stats.At), webui.Count(c.Max, 0), webui.Count(now, 0))
	return c
}

func ticks(stats *queueadmin.Stats, zone *time.Location) []string {
	const n = 5
	out := make([]string, n)
	for i := range out {
		out[i] = hour(stats, stats.Since.Add(stats.At.Sub(stats.Since)*time.Duration(i)/(n-1)).In(zone))
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
