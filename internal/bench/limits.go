package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"regexp"
	"time"
)

// A LimitSize is how many jobs wait for limits.
type LimitSize struct {
	Jobs    int
	Running int // of one key
	Deleted int
	Rounds  int // at most
	// KeysLimit cuts the drain of many keys short, for which the limit of the other measurements is too short: the
	// first claims look at all keys.
	KeysLimit time.Duration
}

func fullLimits() LimitSize {
	return LimitSize{Jobs: 100_000, Running: 1, Deleted: 1_000_000, Rounds: 3, KeysLimit: time.Minute}
}

func quickLimits() LimitSize {
	return LimitSize{Jobs: 300, Running: 1, Deleted: 1000, Rounds: 1, KeysLimit: time.Second}
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

// A limitDrainResult is jobs a second, by rounds.
type limitDrainResult struct {
	Engine string
	Case   limitDrain
	Rates  []float64
}

func (r *limitDrainResult) title(s *LimitSize) string {
	if r.Case.Deleted {
		return fmt.Sprintf(r.Case.Title, count(s.Jobs), count(s.Deleted))
	}
	return fmt.Sprintf(r.Case.Title, count(s.Jobs))
}

func (b *bench) measureLimitDrains(ctx context.Context, c *Contender, wanted *regexp.Regexp) {
	for _, limits := range limitDrains() {
		if !wanted.MatchString(limits.Name) {
			continue
		}
		result := limitDrainResult{Engine: c.Engine, Case: limits}
		for round := range min(b.rounds, b.size.Limits.Rounds) {
			if ctx.Err() != nil {
				return
			}
			rate, err := b.drainLimited(ctx, c, limits)
			if err != nil {
				b.failf("%s, %s: %w", limits.Name, c, err)
				break
			}
			log.Printf("%s %s round %d: %.4g/s", limits.Name, c, round+1, rate)
			result.Rates = append(result.Rates, rate)
		}
		if len(result.Rates) > 0 {
			b.limitDrains = append(b.limitDrains, result)
		}
	}
}

func (b *bench) drainLimited(ctx context.Context, c *Contender, limits limitDrain) (rate float64, err error) {
	s := &b.size.Limits
	// The measurement is about the rows that a DELETE leaves behind: nothing settles after it.
	n := 0
	if limits.Deleted {
		n = s.Deleted
	}
	p, remove, err := b.filled(ctx, c, claimCase{Fill: func(ctx context.Context, p *postroom, n int) error {
		return p.Stage(ctx, Due, n)
	}}, n)
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
		keys, limit = 1, b.size.Limit
	}
	if err := errors.Join(p.limitPrefix(ctx, s.Running), p.stageKeys(ctx, s.Jobs, keys)); err != nil {
		return 0, err
	}
	if !limits.Deleted {
		if err := b.engines[c.Engine].Settle(ctx, p.place); err != nil {
			return 0, err
		}
	}
	figure, err := drain(ctx, p, s.Jobs, limit)
	return figure.Rate, err
}
