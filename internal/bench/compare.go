package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
	"github.com/postroom-go/postroom/internal/bench/machine"
	"github.com/postroom-go/postroom/internal/bench/postroom"
	"github.com/postroom-go/postroom/internal/bench/store"
	"github.com/postroom-go/postroom/internal/bench/workload"
)

// A cell is one value of a table, with the measurements of all rounds.
type cell struct {
	Engine, Contender, Variant, Workload string
	Durability                           store.Durability
	Rounds                               []figure.Figure
}

func (c *cell) median() figure.Figure { return figure.MedianOf(c.Rounds) }

// A size is how much is measured: by the workloads, by machines, and of our queue alone.
type size struct {
	workload.Size
	Machines machine.Size
	Postroom postroom.Size
}

func fullSize() size { return size{workload.FullSize(), machine.FullSize(), postroom.FullSize()} }

func quickSize() size { return size{workload.QuickSize(), machine.QuickSize(), postroom.QuickSize()} }

// A bench is one run of this program.
type bench struct {
	engines    map[string]store.Engine
	contenders []contender.Contender
	workloads  []workload.Workload
	dir        string // for files, on the disk that is measured
	rounds     int
	size       size

	cells    []*cell
	machines []machine.Result
	ours     postroom.Results
	failures []error
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

func (b *bench) compareAt(ctx context.Context, name string, durability store.Durability, w workload.Workload) {
	var starters []*starter
	for _, c := range b.contenders {
		if c.Engine == name && c.Groups&w.Group != 0 {
			starters = append(starters, &starter{
				contender: c, engine: b.engines[name], durability: durability, workload: w, size: &b.size.Size,
				cell: &cell{Engine: name, Contender: c.Name, Variant: c.Variant, Workload: w.Name, Durability: durability},
			})
		}
	}
	for round := range b.rounds {
		for _, s := range starters {
			if s.out || ctx.Err() != nil {
				continue
			}
			measured, err := s.round(ctx)
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
			log.Printf("%s %s %s round %d: %s", w.Name, durability, &s.contender, round+1, measured)
			s.cell.Rounds = append(s.cell.Rounds, measured)
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
	contender  contender.Contender
	engine     store.Engine
	durability store.Durability
	workload   workload.Workload
	size       *workload.Size
	cell       *cell
	out        bool // it failed, or cannot do this

	place  store.Place
	queue  contender.Queue // nil where the contender is elsewhere
	remove func() error
}

func (s *starter) round(ctx context.Context) (figure.Figure, error) {
	if s.remove == nil {
		if err := s.open(ctx); err != nil {
			return figure.Figure{}, errors.Join(err, s.close())
		}
	}
	measured, err := s.measure(ctx)
	if s.workload.Staged == nil {
		err = errors.Join(err, s.close())
	}
	return measured, err
}

func (s *starter) measure(ctx context.Context) (figure.Figure, error) {
	if s.contender.Elsewhere != nil {
		e := errand{Contender: s.contender.String(), Workload: s.workload.Name,
			Place: s.place, Size: s.size}
		return e.ask(ctx, s.contender.Elsewhere)
	}
	return s.workload.Measure(ctx, s.queue, s.size)
}

func (s *starter) open(ctx context.Context) (err error) {
	if s.place, s.remove, err = s.engine.Make(ctx); err != nil {
		return err
	}
	s.place.Durability, s.place.Retain = s.durability, s.workload.Retain
	if s.contender.Elsewhere != nil {
		e := errand{Contender: s.contender.String(), Workload: s.workload.Name,
			Place: s.place, Size: s.size, Stage: true}
		_, err := e.ask(ctx, s.contender.Elsewhere)
		return err
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
