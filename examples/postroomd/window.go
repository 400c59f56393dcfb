package main

import (
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/safety"
)

// ago returns the time that lies as far back as the value of a flag.
func ago(flag, text string, now time.Time) (time.Time, error) {
	window, err := safety.ParseWindow(text)
	if err != nil {
		return time.Time{}, usage.Errorf("--%s %s: write a whole number from 1 and a unit m, h, d or w, as 24h or 7d, of at most ten years", flag, text)
	}
	return now.Add(-window), nil
}
