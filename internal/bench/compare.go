package main

import (
	"context"
	"errors"
	"fmt"
	"log"
)

// A cell is one figure of a table: what all rounds measured of it.
type cell struct {
	Engine, Contender, Variant, Workload string
	Durability                           Durability
	Rounds                               []Figure
}

// median is that of each part of the figure.
func (c *cell) median() Figure {
	var result Figure
	for part := range c.Rounds[0] {
		values := make([]float64, len(c.Rounds))
		for i, figure := range c.Rounds {
			values[i] = figure[part]
		}
		result = append(result, median(values))
	}
	return result
}

// A bench is one run of this program.
type bench struct {
	engines    map[string]Engine
	contenders []Contender
	workloads  []Workload
	rounds     int
	size       *Size

	cells    []*cell
	claims   []claimResult
	limits   []limitResult
	memory   []memoryResult
	idle     []idleResult
	failures []error
}

func (b *bench) failf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	log.Print("FAILED: ", err)
	b.failures = append(b.failures, err)
}

// compare measures each workload for all contenders of an engine in turn, round after round, so that whatever the machine
// does besides hits them alike.
func (b *bench) compare(ctx context.Context, name string) {
	for _, durability := range b.engines[name].Durabilities() {
		for _, w := range b.workloads {
			b.compareAt(ctx, name, durability, w)
		}
	}
}

func (b *bench) compareAt(ctx context.Context, name string, durability Durability, w Workload) {
	var starters []*starter
	for _, c := range b.contenders {
		if c.Engine == name && c.Groups&w.Group != 0 {
			starters = append(starters, &starter{
				contender: c, engine: b.engines[name], durability: durability, workload: w, size: b.size,
				cell: &cell{Engine: name, Contender: c.Name, Variant: c.Variant, Workload: w.Name, Durability: durability},
			})
		}
	}
	for round := range b.rounds {
		for _, s := range starters {
			if s.out || ctx.Err() != nil {
				continue
			}
			figure, err := s.round(ctx)
			if err != nil {
				s.out = true
				if !errors.Is(err, errors.ErrUnsupported) {
					b.failf("%s, %s, %s: %w", w.Name, &s.contender, durability, err)
				}
				continue
			}
			log.Printf("%s %s %s round %d: %.4g", w.Name, durability, &s.contender, round+1, figure)
			s.cell.Rounds = append(s.cell.Rounds, figure)
		}
	}
	for _, s := range starters {
		if err := s.close(); err != nil {
			b.failf("%s, %s: %w", w.Name, &s.contender, err)
		}
		if !s.out && len(s.cell.Rounds) > 0 {
			b.cells = append(b.cells, s.cell)
		}
	}
}

// A starter is a contender in one workload, with its store.
type starter struct {
	contender  Contender
	engine     Engine
	durability Durability
	workload   Workload
	size       *Size
	cell       *cell
	out        bool // it failed, or cannot do this

	queue  Queue
	remove func() error
}

func (s *starter) round(ctx context.Context) (Figure, error) {
	if s.queue == nil {
		if err := s.open(ctx); err != nil {
			return nil, err
		}
	}
	figure, err := s.workload.Measure(ctx, s.queue, s.size)
	if s.workload.Staged == nil {
		err = errors.Join(err, s.close())
	}
	return figure, err
}

func (s *starter) open(ctx context.Context) error {
	place, remove, err := s.engine.Make(ctx)
	if err != nil {
		return err
	}
	s.remove = remove
	place.Durability, place.Retain = s.durability, s.workload.Retain
	q, err := s.contender.Open(ctx, place)
	if err != nil {
		return err
	}
	s.queue = q
	if s.workload.Staged == nil {
		return nil
	}
	kind, n := s.workload.Staged(s.size)
	if err := q.Stage(ctx, kind, n); err != nil {
		return err
	}
	return s.engine.Settle(ctx, place)
}

func (s *starter) close() error {
	var err error
	if s.queue != nil {
		err = s.queue.Close()
		s.queue = nil
	}
	if s.remove != nil {
		err = errors.Join(err, s.remove())
		s.remove = nil
	}
	return err
}
