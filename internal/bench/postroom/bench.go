package postroom

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/postroom-go/postroom/internal/bench/store"
)

// A Size is how large the tables of our queue are, and how much is measured on them.
type Size struct {
	Finished, Scheduled, Queued int // jobs beside which claims are measured
	Keys                        int // of limited jobs
	Claims                      int
	Memory                      int // jobs that a process of its own drains
	Idle                        time.Duration
	Drains                      DrainSize
	// Limit cuts a drain short; the work done by then counts.
	Limit time.Duration
}

// FullSize is for results.
func FullSize() Size {
	return Size{
		Finished: 5_000_000, Scheduled: 500_000, Queued: 1_000_000, Keys: 1000, Claims: 1000, Memory: 1_000_000,
		Idle: 20 * time.Second, Drains: fullDrains(), Limit: 5 * time.Second,
	}
}

// QuickSize is to see whether everything works.
func QuickSize() Size {
	return Size{
		Finished: 2000, Scheduled: 1000, Queued: 10_000, Keys: 50, Claims: 20, Memory: 2000,
		Idle: 200 * time.Millisecond, Drains: quickDrains(), Limit: 200 * time.Millisecond,
	}
}

// Results are those of our queue alone.
type Results struct {
	Claims []ClaimResult
	Limits []LimitResult
	Drains []DrainResult
	Memory []MemoryResult
	Idle   []IdleResult
}

// A Bench measures our queue alone, on one engine.
type Bench struct {
	Name   string // of the engine
	Engine store.Engine
	Rounds int
	Size   Size
	Failf  func(format string, args ...any)

	results *Results
}

// Measure adds to the results what wanted matches.
func (b *Bench) Measure(ctx context.Context, wanted *regexp.Regexp, results *Results) {
	b.results = results
	b.measureClaims(ctx, wanted)
	b.measureLimits(ctx, wanted)
	b.measureDrains(ctx, wanted)
	if b.Name != "sqlite" {
		return
	}
	if wanted.MatchString("memory") {
		if err := b.measureMemory(ctx); err != nil {
			b.Failf("memory: %w", err)
		}
	}
	if wanted.MatchString("idle") {
		if err := b.measureIdle(ctx); err != nil {
			b.Failf("idle: %w", err)
		}
	}
}

// String is the contender's.
func (b *Bench) String() string { return b.Name + "/" + Name }

// filled opens a queue on a store of its own that has n jobs.
func (b *Bench) filled(ctx context.Context, n int,
	fill func(ctx context.Context, p *postroom, n int) error) (*postroom, func() error, error) {
	place, remove, err := b.Engine.Make(ctx)
	if err != nil {
		return nil, nil, err
	}
	place.Durability = b.Engine.Durabilities()[0]
	p, err := open(ctx, b.Name, place, tunedWorkers)
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	for left := n; left > 0 && err == nil; left -= portion {
		err = errors.Join(fill(ctx, p, min(left, portion)), b.Engine.Settle(ctx, place))
	}
	if err != nil {
		return nil, nil, errors.Join(err, p.Close(), remove())
	}
	return p, remove, nil
}

// portion is how many jobs are stored before the engine settles: filling a table with millions takes minutes, in which
// it would have settled several times by itself.
const portion = 250_000
