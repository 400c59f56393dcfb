// Package attempts holds how often jobs of the mail packages are tried.
package attempts

import "time"

// Unattended is the MaxAttempts of a job that nobody enqueues again when it has failed. With the queue's default backoff
// the job outlasts eight hours without a provider, a model or a network.
const Unattended = 100

// The bounds of [Busy] and [Held]. With the queue's default budget, a job that is held lasts more than a year: after a day it looks
// every hour, and after two weeks every day.
const (
	firstWait = 5 * time.Millisecond
	lastWait  = time.Minute

	firstHold = time.Second
	lastHold  = 15 * time.Minute

	longHeld, longHold     = 110, time.Hour
	longerHeld, longerHold = 450, 24 * time.Hour
)

// Busy is how long a job waits that has found its message busy, the more often the longer. It has been interrupted as often as
// given.
func Busy(interruptions int) time.Duration {
	return min(firstWait<<min(interruptions, 16), lastWait)
}

// Held is how long a job waits that may not start its action now: until the given time or, where nobody knows one, the longer the
// more often it has been interrupted.
func Held(interruptions int, until, now time.Time) time.Duration {
	if wait := until.Sub(now); !until.IsZero() && wait > 0 {
		return wait
	}
	switch {
	case interruptions >= longerHeld:
		return longerHold
	case interruptions >= longHeld:
		return longHold
	}
	return min(firstHold<<min(interruptions, 16), lastHold)
}
