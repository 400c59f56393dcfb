package postroom

import (
	"context"
	"errors"
	"fmt"
	"log"
	"regexp"
	"time"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
)

// A DrainSize is how many jobs wait for limits.
type DrainSize struct {
	Jobs    int
	Running int // of one key
	Deleted int
	Rounds  int // at most
	// KeysLimit cuts the drain of many keys short, for which the limit of the other measurements is too short: the
	// first claims look at all keys.
	KeysLimit time.Duration
}

func fullDrains() DrainSize {
	return DrainSize{Jobs: 100_000, Running: 1, Deleted: 1_000_000, Rounds: 3, KeysLimit: time.Minute}
}

func quickDrains() DrainSize {
	return DrainSize{Jobs: 300, Running: 1, Deleted: 1000, Rounds: 1, KeysLimit: time.Second}
}

// A limitDrain is a store that is drained under limits of keys.
type limitDrain struct {
	Name    string
	Title   string // with the number of jobs, and of those that were deleted
	OneKey  bool
	Deleted bool
}

func limitDrains() []limitDrain {
	return []limitDrain{
		{Name: "limits-keys", Title: "%s keys, each with one job"},
		{Name: "limits-one-key", Title: "one key with %s jobs", OneKey: true},
		{Name: "limits-keys-deleted", Title: "%s keys, each with one job, after a DELETE of %s", Deleted: true},
		{Name: "limits-one-key-deleted", Title: "one key with %s jobs, after a DELETE of %s", OneKey: true, Deleted: true},
	}
}

// A DrainResult is jobs a second, by rounds.
type DrainResult struct {
	Engine string
	Store  string // its description
	Rates  []float64
}

func (d *limitDrain) store(s *DrainSize) string {
	if d.Deleted {
		return fmt.Sprintf(d.Title, figure.Count(s.Jobs), figure.Count(s.Deleted))
	}
	return fmt.Sprintf(d.Title, figure.Count(s.Jobs))
}

func (b *Bench) measureDrains(ctx context.Context, wanted *regexp.Regexp) {
	for _, limits := range limitDrains() {
		if !wanted.MatchString(limits.Name) {
			continue
		}
		result := DrainResult{Engine: b.Name, Store: limits.store(&b.Size.Drains)}
		for round := range min(b.Rounds, b.Size.Drains.Rounds) {
			if ctx.Err() != nil {
				return
			}
			rate, err := b.drainLimited(ctx, limits)
			if err != nil {
				b.Failf("%s, %s: %w", limits.Name, b, err)
				break
			}
			log.Printf("%s %s round %d: %.4g/s", limits.Name, b, round+1, rate)
			result.Rates = append(result.Rates, rate)
		}
		if len(result.Rates) > 0 {
			b.results.Drains = append(b.results.Drains, result)
		}
	}
}

func (b *Bench) drainLimited(ctx context.Context, limits limitDrain) (rate float64, err error) {
	s := &b.Size.Drains
	// The measurement is about the rows that a DELETE leaves behind: nothing settles after it.
	n := 0
	if limits.Deleted {
		n = s.Deleted
	}
	p, remove, err := b.filled(ctx, n, func(ctx context.Context, p *postroom, n int) error {
		return p.Stage(ctx, contender.Due, n)
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.Close(), remove()) }()
	if limits.Deleted {
		if err := p.deleteAll(ctx); err != nil {
			return 0, err
		}
	}
	keys, limit := s.Jobs, s.KeysLimit
	if limits.OneKey {
		keys, limit = 1, b.Size.Limit
	}
	if err := errors.Join(p.limitPrefix(ctx, s.Running), p.stageKeys(ctx, s.Jobs, keys)); err != nil {
		return 0, err
	}
	if !limits.Deleted {
		if err := b.Engine.Settle(ctx, p.place); err != nil {
			return 0, err
		}
	}
	return contender.Drain(ctx, p, s.Jobs, limit)
}
