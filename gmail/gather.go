package gmail

import (
	"sync"
	"time"
)

// A gathering collects what is added at about the same time, and runs it together. What is added by a single caller, one after the
// other, runs at once: only when something is added while something else is under way does the gathering begin to wait, until it has
// waited in vain. It is safe for concurrent use. [newGathering] makes one.
type gathering[T any] struct {
	most int
	wait time.Duration
	run  func(items []T)

	mu      sync.Mutex
	running int
	crowded bool // waiting has brought company
	waiting []T
	timer   *time.Timer // of what is waiting
}

// newGathering makes one. run gets what has come together, at most so many items, in the order in which they were added; several
// calls of run may be under way. What is added waits for the others no longer than given.
func newGathering[T any](most int, wait time.Duration, run func(items []T)) *gathering[T] {
	return &gathering[T]{most: most, wait: wait, run: run}
}

// add has the item run, on another goroutine, and does not wait for that.
func (g *gathering[T]) add(item T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, item)
	g.crowded = g.crowded || g.running > 0
	switch {
	case !g.crowded || len(g.waiting) == g.most:
		g.start()
	case len(g.waiting) == 1:
		g.timer = time.AfterFunc(g.wait, g.late)
	}
}

// late starts what has waited long enough. What has come since then may go with it: to be early harms nothing.
func (g *gathering[T]) late() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) > 0 {
		g.crowded = len(g.waiting) > 1
		g.start()
	}
}

func (g *gathering[T]) start() {
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	items := g.waiting
	g.waiting = nil
	g.running++
	go func() {
		defer func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.running--
		}()
		g.run(items)
	}()
}
