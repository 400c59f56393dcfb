package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
)

// A cell is one value of a table, with the measurements of all rounds.
type cell struct {
	Engine, Contender, Variant, Workload string
	Durability                           Durability
	Rounds                               []Figure
}

func (c *cell) median() Figure { return medianFigure(c.Rounds) }

// A bench is one run of this program.
type bench struct {
	engines    map[string]Engine
	contenders []Contender
	workloads  []Workload
	dir        string // for files, on the disk that is measured
	rounds     int
	size       *Size

	cells       []*cell
	claims      []claimResult
	limits      []limitResult
	machines    []machineResult
	limitDrains []limitDrainResult
	memory      []memoryResult
	idle        []idleResult
	failures    []error
}

func (b *bench) failf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	log.Print("FAILED: ", err)
	b.failures = append(b.failures, err)
}

// A peerFailure is the failure of another queue, which with so few jobs is mostly temporary. It leaves a gap in the
// report.
type peerFailure struct{ error }

func (f peerFailure) Unwrap() error { return f.error }

// failed joins the failures that make the run fail. A quick run, which checks whether this program works, ignores
// failures of other queues.
func (b *bench) failed(quick bool) error {
	return errors.Join(slices.DeleteFunc(slices.Clone(b.failures), func(err error) bool {
		_, peer := errors.AsType[peerFailure](err)
		return quick && peer
	})...)
}

// compare measures each workload for all contenders of an engine in turn, round after round, so that other load of the
// machine affects them equally.
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
				if s.contender.Peer {
					err = peerFailure{err}
				}
				if !errors.Is(err, errors.ErrUnsupported) {
					b.failf("%s, %s, %s: %w", w.Name, &s.contender, durability, err)
				}
				continue
			}
			log.Printf("%s %s %s round %d: %s", w.Name, durability, &s.contender, round+1, figure)
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

	place  Place
	queue  Queue // nil where the contender is elsewhere
	remove func() error
}

func (s *starter) round(ctx context.Context) (Figure, error) {
	if s.remove == nil {
		if err := s.open(ctx); err != nil {
			return Figure{}, errors.Join(err, s.close())
		}
	}
	figure, err := s.measure(ctx)
	if s.workload.Staged == nil {
		err = errors.Join(err, s.close())
	}
	return figure, err
}

func (s *starter) measure(ctx context.Context) (Figure, error) {
	if s.contender.Elsewhere != nil {
		return s.contender.Elsewhere.round(ctx, errand{Contender: s.contender.String(), Workload: s.workload.Name, Place: s.place, Size: s.size})
	}
	return s.workload.Measure(ctx, s.queue, s.size)
}

func (s *starter) open(ctx context.Context) (err error) {
	if s.place, s.remove, err = s.engine.Make(ctx); err != nil {
		return err
	}
	s.place.Durability, s.place.Retain = s.durability, s.workload.Retain
	if s.contender.Elsewhere != nil {
		return s.contender.Elsewhere.stage(ctx, errand{Contender: s.contender.String(), Workload: s.workload.Name, Place: s.place, Size: s.size})
	}
	queue, err := s.contender.Open(ctx, s.place)
	if err != nil {
		return err // and queue may be a nil pointer in an interface
	}
	if s.queue = queue; s.workload.Staged == nil {
		return nil
	}
	kind, n := s.workload.Staged(s.size)
	if err := s.queue.Stage(ctx, kind, n); err != nil {
		return err
	}
	return s.engine.Settle(ctx, s.place)
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
