package postroom

import (
	"context"
	"errors"
	"fmt"
	"log"
	"regexp"
	"time"

	"github.com/postroom-go/postroom/internal/bench/figure"
	"github.com/postroom-go/postroom/queue"
)

// limitedTypes is how many types the jobs have of which claims under limits are measured.
const limitedTypes = 200

// A limitCase is a state in which claims of several jobs are measured, all types asked for. What was claimed is ended
// before the next claim, as a dispatcher does.
type limitCase struct {
	Name  string
	Title string
	// Running is how many jobs run of each key before a claim begins; those that began first are ended after each
	// claim. Below zero, no key is limited.
	Running int
}

// runningOfKey is the limit of each key.
const runningOfKey = 2

func limitCases() []limitCase {
	return []limitCase{
		{Name: "claim-unlimited", Title: "no limits", Running: -1},
		{Name: "claim-limits", Title: "keys below their limit", Running: 0},
		{Name: "claim-limits-full", Title: "keys at their limit, except those that the last completions have freed", Running: runningOfKey},
	}
}

// A LimitResult is the time of claims, and of ending the claimed jobs, in microseconds.
type LimitResult struct {
	Engine       string
	Keys         string // their description
	By           int    // jobs that a claim asks for
	Claims, Ends []float64
	Jobs         int // that all the claims got
}

func (b *Bench) measureLimits(ctx context.Context, wanted *regexp.Regexp) {
	for _, limits := range limitCases() {
		if !wanted.MatchString(limits.Name) {
			continue
		}
		if err := b.measureLimit(ctx, limits); err != nil {
			b.Failf("%s, %s: %w", limits.Name, b, err)
		}
	}
}

func (b *Bench) measureLimit(ctx context.Context, limits limitCase) (err error) {
	s := &b.Size
	p, remove, err := b.filled(ctx, s.Queued, func(ctx context.Context, p *postroom, n int) error {
		return p.fillLimited(ctx, n, s.Keys, limits.Running >= 0)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close(), remove()) }()
	w := newLimitedWorker(p)
	if err := w.occupy(ctx, s.Keys*max(0, limits.Running)); err != nil {
		return err
	}
	// The first claims look at all keys, again and again, which were marked while the table was filled.
	if err := w.turns(ctx, max(20, s.Queued/2000), &LimitResult{By: 10}); err != nil {
		return err
	}
	if err := b.Engine.Settle(ctx, p.place); err != nil {
		return err
	}
	for _, by := range []int{1, 10, 100} {
		result := LimitResult{Engine: b.Name, Keys: limits.Title, By: by}
		// The first claims look at the keys that another number of ends has freed.
		if err := w.turns(ctx, 20, &LimitResult{By: by}); err != nil {
			return err
		}
		for round := range b.Rounds {
			if err := w.turns(ctx, min(s.Claims, s.Claims*10/by), &result); err != nil {
				return err
			}
			log.Printf("%s by %d %s round %d: %s", limits.Name, by, b, round+1, &result)
		}
		b.results.Limits = append(b.results.Limits, result)
	}
	return nil
}

// String returns the results so far.
func (r *LimitResult) String() string {
	return fmt.Sprintf("claim %.0f µs (p99 %.0f) with %.1f jobs, end %.0f µs", figure.Percentile(r.Claims, 50),
		figure.Percentile(r.Claims, 99),
		float64(r.Jobs)/float64(len(r.Claims)), figure.Percentile(r.Ends, 50))
}

// fillLimited stores n jobs under limits, or under keys that have none.
func (p *postroom) fillLimited(ctx context.Context, n, keys int, limited bool) error {
	if limited {
		if err := p.limitKeys(ctx, keys, runningOfKey); err != nil {
			return err
		}
	}
	return p.fillKeys(ctx, n, keys, limitedTypes)
}

// A limitedWorker claims and ends jobs like a dispatcher, and keeps the running jobs, the oldest first.
type limitedWorker struct {
	p       *postroom
	types   []string
	running []*queue.Attempt
}

func newLimitedWorker(p *postroom) *limitedWorker {
	w := &limitedWorker{p: p}
	for i := range limitedTypes {
		w.types = append(w.types, typeName(i))
	}
	return w
}

func (w *limitedWorker) claim(ctx context.Context, n int) error {
	jobs, err := w.p.claim(ctx, w.types, n)
	w.running = append(w.running, jobs...)
	return err
}

// occupy claims until the given number of jobs is running.
func (w *limitedWorker) occupy(ctx context.Context, n int) error {
	for range n {
		if len(w.running) == n {
			return nil
		}
		if err := w.claim(ctx, min(100, n-len(w.running))); err != nil {
			return err
		}
	}
	if len(w.running) < n {
		return fmt.Errorf("%d of %d jobs run after as many claims", len(w.running), n)
	}
	return nil
}

// turns are n claims, each with the end of as many jobs as it may get.
func (w *limitedWorker) turns(ctx context.Context, n int, result *LimitResult) error {
	for range n {
		before, start := len(w.running), time.Now()
		if err := w.claim(ctx, result.By); err != nil {
			return err
		}
		result.Claims = append(result.Claims, microseconds(start))
		result.Jobs += len(w.running) - before
		start = time.Now()
		if err := w.end(ctx, min(result.By, len(w.running))); err != nil {
			return err
		}
		result.Ends = append(result.Ends, microseconds(start))
	}
	return nil
}

func microseconds(since time.Time) float64 {
	return float64(time.Since(since)) / float64(time.Microsecond)
}

// end ends the oldest n in one transaction.
func (w *limitedWorker) end(ctx context.Context, n int) error {
	oldest := w.running[:n]
	w.running = w.running[n:]
	return w.p.end(ctx, oldest)
}
