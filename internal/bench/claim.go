package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"
)

// A claimCase is a table that must not make claims slow: the time of a claim is compared with that on an empty table.
type claimCase struct {
	Name string // matched by -workload
	// Title describes the table, with the number of its jobs.
	Title string
	N     func(s *Size) int
	Types int // how many types the jobs have
	// Claimed is how many of the types a claim asks for.
	Claimed int
	Fill    func(ctx context.Context, p *postroom, n int) error
}

func claimCases() []claimCase {
	finished := func(s *Size) int { return s.ClaimFinished }
	scheduled := func(s *Size) int { return s.Scheduled }
	queued := func(s *Size) int { return s.ClaimQueued }
	stage := func(kind Kind) func(context.Context, *postroom, int) error {
		return func(ctx context.Context, p *postroom, n int) error { return p.Stage(ctx, kind, n) }
	}
	const types = 200
	spread := func(ctx context.Context, p *postroom, n int) error {
		return inThousands(n, func(n int) error { return p.enqueue(ctx, n, types, nil) })
	}
	return []claimCase{
		{Name: "claim-finished", Title: "%s finished jobs", N: finished, Types: 1, Claimed: 1, Fill: stage(Finished)},
		{Name: "claim-scheduled", Title: "%s jobs scheduled, of higher priority", N: scheduled, Types: 1, Claimed: 1, Fill: stage(Scheduled)},
		{Name: "claim-types", Title: "%s jobs due, of 200 types, all asked for", N: queued, Types: types, Claimed: types, Fill: spread},
		{Name: "claim-one-type", Title: "%s jobs due, of 200 types, one asked for", N: queued, Types: types, Claimed: 1, Fill: spread},
	}
}

// A claimResult is the median time of a claim of one job, in microseconds: by rounds.
type claimResult struct {
	Engine        string
	Case          claimCase
	N             int
	Empty, Filled []float64
}

// ratio is the time of a claim on the filled table relative to the empty one.
func (r *claimResult) ratio() float64 { return median(r.Filled) / median(r.Empty) }

func (b *bench) measureClaims(ctx context.Context, c *Contender, cases []claimCase) {
	for _, claims := range cases {
		result, err := b.measureClaim(ctx, c, claims)
		if err != nil {
			b.failf("%s, %s: %w", claims.Name, c, err)
			continue
		}
		b.claims = append(b.claims, result)
	}
}

func (b *bench) measureClaim(ctx context.Context, c *Contender, claims claimCase) (result claimResult, err error) {
	result = claimResult{Engine: c.Engine, Case: claims, N: claims.N(b.size)}
	var stores []*postroom
	for _, n := range []int{0, result.N} {
		p, remove, err := b.filled(ctx, c, claims, n)
		if err != nil {
			return result, err
		}
		defer func() { err = errors.Join(err, p.Close(), remove()) }()
		stores = append(stores, p)
	}
	for round := range b.rounds {
		for i, times := range []*[]float64{&result.Empty, &result.Filled} {
			took, err := claimTime(ctx, stores[i], claims, b.size.Claims)
			if err != nil {
				return result, err
			}
			*times = append(*times, took)
		}
		log.Printf("%s %s round %d: %.1f µs empty, %.1f µs filled", claims.Name, c, round+1, result.Empty[round], result.Filled[round])
	}
	return result, nil
}

func (b *bench) filled(ctx context.Context, c *Contender, claims claimCase, n int) (*postroom, func() error, error) {
	engine := b.engines[c.Engine]
	place, remove, err := engine.Make(ctx)
	if err != nil {
		return nil, nil, err
	}
	place.Durability = engine.Durabilities()[0]
	q, err := c.Open(ctx, place)
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	p, ok := q.(*postroom)
	if !ok {
		return nil, nil, errors.Join(fmt.Errorf("%s has no claims", c), q.Close(), remove())
	}
	for left := n; left > 0 && err == nil; left -= portion {
		err = errors.Join(claims.Fill(ctx, p, min(left, portion)), engine.Settle(ctx, place))
	}
	if err != nil {
		return nil, nil, errors.Join(err, p.Close(), remove())
	}
	return p, remove, nil
}

// portion is how many jobs are stored before the engine settles: filling a table with millions takes minutes, in which
// it would have settled several times by itself.
const portion = 250_000

// claimTime returns the median time of n claims of one job each. The jobs are completed, so that every round has the
// same conditions.
func claimTime(ctx context.Context, p *postroom, claims claimCase, n int) (float64, error) {
	if err := p.enqueue(ctx, n*claims.Types/claims.Claimed, claims.Types, nil); err != nil {
		return 0, err
	}
	types := make([]string, claims.Claimed)
	for i := range types {
		types[i] = typeName(i)
	}
	times := make([]float64, n)
	for i := range times {
		start := time.Now()
		jobs, err := p.claim(ctx, types, 1)
		times[i] = microseconds(start)
		if err != nil {
			return 0, err
		}
		if len(jobs) != 1 {
			return 0, fmt.Errorf("claim %d got %d jobs", i+1, len(jobs))
		}
		if err := jobs[0].Complete(ctx, nil); err != nil {
			return 0, err
		}
	}
	return median(times), nil
}
