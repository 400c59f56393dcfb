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

// A claimCase is a table that must not make claims slow: the time of a claim is compared with that on an empty table.
type claimCase struct {
	Name string // matched by -workload
	// Title describes the table, with the number of its jobs.
	Title string
	N     int
	Types int // how many types the jobs have
	// Claimed is how many of the types a claim asks for.
	Claimed int
	Fill    func(ctx context.Context, p *postroom, n int) error
}

func claimCases(s *Size) []claimCase {
	stage := func(kind contender.Kind) func(context.Context, *postroom, int) error {
		return func(ctx context.Context, p *postroom, n int) error { return p.Stage(ctx, kind, n) }
	}
	const types = 200
	spread := func(ctx context.Context, p *postroom, n int) error {
		return contender.InThousands(n, func(n int) error { return p.enqueue(ctx, n, types, nil) })
	}
	return []claimCase{
		{Name: "claim-finished", Title: "%s finished jobs", N: s.Finished, Types: 1, Claimed: 1, Fill: stage(contender.Finished)},
		{Name: "claim-scheduled", Title: "%s jobs scheduled, of higher priority", N: s.Scheduled, Types: 1, Claimed: 1, Fill: stage(contender.Scheduled)},
		{Name: "claim-types", Title: "%s jobs due, of 200 types, all asked for", N: s.Queued, Types: types, Claimed: types, Fill: spread},
		{Name: "claim-one-type", Title: "%s jobs due, of 200 types, one asked for", N: s.Queued, Types: types, Claimed: 1, Fill: spread},
	}
}

// A ClaimResult is the median time of a claim of one job, in microseconds: by rounds.
type ClaimResult struct {
	Engine        string
	Table         string // its description
	Empty, Filled []float64
}

// Ratio is the time of a claim on the filled table relative to the empty one.
func (r *ClaimResult) Ratio() float64 { return figure.Median(r.Filled) / figure.Median(r.Empty) }

func (b *Bench) measureClaims(ctx context.Context, wanted *regexp.Regexp) {
	for _, claims := range claimCases(&b.Size) {
		if !wanted.MatchString(claims.Name) {
			continue
		}
		result, err := b.measureClaim(ctx, claims)
		if err != nil {
			b.Failf("%s, %s: %w", claims.Name, b, err)
			continue
		}
		b.results.Claims = append(b.results.Claims, result)
	}
}

func (b *Bench) measureClaim(ctx context.Context, claims claimCase) (result ClaimResult, err error) {
	result = ClaimResult{Engine: b.Name, Table: fmt.Sprintf(claims.Title, figure.Count(claims.N))}
	var stores []*postroom
	for _, n := range []int{0, claims.N} {
		p, remove, err := b.filled(ctx, n, claims.Fill)
		if err != nil {
			return result, err
		}
		defer func() { err = errors.Join(err, p.Close(), remove()) }()
		stores = append(stores, p)
	}
	for round := range b.Rounds {
		for i, times := range []*[]float64{&result.Empty, &result.Filled} {
			took, err := claimTime(ctx, stores[i], claims, b.Size.Claims)
			if err != nil {
				return result, err
			}
			*times = append(*times, took)
		}
		log.Printf("%s %s round %d: %.1f µs empty, %.1f µs filled", claims.Name, b, round+1, result.Empty[round],
			result.Filled[round])
	}
	return result, nil
}

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
	return figure.Median(times), nil
}
