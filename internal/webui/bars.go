package webui

import "math"

// BarStep is the width of a bucket in a chart, and barWidth the width of its bar.
const (
	BarStep  = 10
	barWidth = 8
	barTop   = 100 // the height of the tallest
)

// A Bar is one bucket.
type Bar struct {
	X, Y, W, H float64
	N          int
	Title      string
}

// Bucket returns the bucket of the bar.
func (b Bar) Bucket() int { return int(b.X) / BarStep }

// Bars leaves out empty buckets. The smallest bar is visible.
func Bars(values []int, top int) []Bar {
	var out []Bar
	for i, n := range values {
		if n == 0 {
			continue
		}
		height := math.Max(2, math.Round(float64(n)/float64(top)*barTop*10)/10)
		out = append(out, Bar{X: float64(i*BarStep + (BarStep-barWidth)/2), Y: barTop - height, W: barWidth, H: height,
			N: n})
	}
	return out
}

// MaxOf returns the largest value, or 0.
func MaxOf(values []int) int {
	top := 0
	for _, v := range values {
		top = max(top, v)
	}
	return top
}
