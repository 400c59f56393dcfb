package gmailapi

import (
	"sync"
	"time"
)

// A gathering collects items that are added at about the same time, and runs them together. Items of a single caller,
// added one after the other, run at once. Only if an item is added while another is running does the gathering begin
// to wait, until a wait has brought nothing. It is safe for concurrent use. [newGathering] makes one.
type gathering[T any] struct {
	most int
	wait time.Duration
	run  func(items []T)

	mu      sync.Mutex
	running int
	crowded bool // waiting has brought company
	waiting []T
	timer   *time.Timer // of the waiting items
}

// newGathering makes one. run gets the collected items, at most most, in the order in which they were added; several
// calls of run may be in progress. An item waits for the others no longer than wait.
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

// late starts the items that have waited long enough. Later items may be included.
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
