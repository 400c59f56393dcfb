// Package attempts holds how often jobs of the mail packages are tried.
package attempts

import "time"

// Unattended is the MaxAttempts of a job that nobody enqueues again when it has failed. With the queue's default backoff
// the job outlasts eight hours without a provider, a model or a network.
const Unattended = 100

// The bounds of [Busy].
const (
	firstWait = 5 * time.Millisecond
	lastWait  = time.Minute
)

// Busy is how long a job waits that has found its message busy, the more often the longer. It has been interrupted as often as
// given.
func Busy(interruptions int) time.Duration {
	return min(firstWait<<min(interruptions, 16), lastWait)
}
