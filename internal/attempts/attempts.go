// Package attempts defines how often jobs of the mail packages are tried.
package attempts

import (
	"log/slog"
	"time"
)

// Unattended is the MaxAttempts of a job that nobody enqueues again after it has failed. With the queue's default
// backoff the job survives eight hours without a provider, a model or a network.
const Unattended = 100

// Soon is the wait for a condition that is usually brief.
const Soon = 5 * time.Second

// The bounds of [Busy] and [Held]. With the queue's default budget, a held job lasts more than a year: after a day it
// is retried every hour, and after two weeks every day.
const (
	firstWait = 5 * time.Millisecond
	lastWait  = time.Minute

	firstHold = time.Second
	lastHold  = 15 * time.Minute

	longHeld, longHold     = 110, time.Hour
	longerHeld, longerHold = 450, 24 * time.Hour
)

// Busy returns how long a job waits whose message is busy. The delay grows with the number of its interruptions.
func Busy(interruptions int) time.Duration {
	return min(firstWait<<min(interruptions, 16), lastWait)
}

// The bounds of [Turn]. With the queue's default budget, a job waits for half a year.
const (
	firstTurn             = 50 * time.Millisecond
	usualTurn, usualTurns = time.Second, 30
	lateTurn, lateTurns   = 5 * time.Second, 100
	longTurn, longTurns   = lastHold, 800 // a week
)

// Turn returns how long a job waits for another of its message. Most that end hasten it then: the wait is for one that
// could not, such as one that a person has canceled, or whose process has died. At first it is brief, since a job that
// was about to wait is not hastened.
func Turn(interruptions int) time.Duration {
	switch {
	case interruptions == 0:
		return firstTurn
	case interruptions < usualTurns:
		return usualTurn
	case interruptions < lateTurns:
		return lateTurn
	case interruptions < longTurns:
		return longTurn
	}
	return longerHold
}

// Undo is the type of the jobs that undo actions.
const Undo = "undo.action"

// MessageTag is the tag of the wake-ups and the undos of a message, by which they are found.
func MessageTag(messageID string) string { return "message:" + messageID }

// InTurn marks the error of a job that waits for another of its message. That is usual, and nobody needs to read it
// in the log.
func InTurn(err error) error { return inTurnError{err} }

type inTurnError struct{ error }

func (e inTurnError) Unwrap() error { return e.error }

// Level implements slog.Leveler.
func (inTurnError) Level() slog.Level { return slog.LevelDebug }

// Behind returns how long a job waits for other jobs of its message that have not started: not long at first, and
// then as one that is held, since they may be as well.
func Behind(interruptions int) time.Duration {
	const soon = 12 // 20 s in all
	if interruptions < soon {
		return Busy(interruptions)
	}
	return Held(interruptions, time.Time{}, time.Time{})
}

// Held returns how long a job waits that may not start its action now: until the given time or, if that is unknown, a
// delay that grows with the number of its interruptions.
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

// Look returns how long a job waits until it looks again for the result of a call, when the result has been unknown
// for a time: a sixteenth of that time, at least the first wait and at most a day. With half of the queue's default
// budget, it looks for more than a year.
func Look(first, unknown time.Duration) time.Duration {
	return max(first, min(unknown/16, longerHold))
}
