package sqlite

import (
	"testing"
	"testing/synctest"
	"time"
)

// Who has begun to wait while nobody had the turn, as during a commit, checks as well when the next turn lasts: its
// function may wait for him, and nobody else may come who would have it checked.
func TestWhoWaitsBetweenTurnsChecksTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newNestedWriteGuard()
		l.waiting.Add(1)
		long, leave := l.watch(), make(chan struct{})
		go l.run(&request{}, func() { <-leave })
		defer close(leave)
		select {
		case <-long:
		case <-time.After(nestedWriteTimeout):
			t.Fatal("the turn lasts, and nothing is checked")
		}
	})
}
