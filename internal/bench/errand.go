package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom/internal/bench/child"
	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
	"github.com/postroom-go/postroom/internal/bench/machine"
	"github.com/postroom-go/postroom/internal/bench/postroom"
	"github.com/postroom-go/postroom/internal/bench/store"
	"github.com/postroom-go/postroom/internal/bench/workload"
)

// errandTask is the task of a program that measures a contender elsewhere.
const errandTask = "errand"

// An errand is the task of such a program in one call.
type errand struct {
	Contender, Workload string
	Place               store.Place
	Size                *workload.Size
	Stage               bool // fill the store, and measure nothing
}

// ask measures in a process of its own. The store is open only in that process.
func (e *errand) ask(ctx context.Context, p *child.Program) (measured figure.Figure, err error) {
	err = p.Ask(ctx, errandTask, e, &measured)
	return measured, err
}

// run runs the errand in that process.
func (e *errand) run(ctx context.Context) (measured figure.Figure, err error) {
	all := contenders()
	c := slices.IndexFunc(all, func(c contender.Contender) bool { return c.String() == e.Contender && c.Open != nil })
	w := slices.IndexFunc(workload.All(), func(w workload.Workload) bool { return w.Name == e.Workload })
	if c < 0 || w < 0 {
		return figure.Figure{}, fmt.Errorf("this program has no %s with %s", e.Contender, e.Workload)
	}
	q, err := all[c].Open(ctx, e.Place)
	if err != nil {
		return figure.Figure{}, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	work := workload.All()[w]
	if !e.Stage {
		return work.Measure(ctx, q, e.Size)
	}
	if work.Staged == nil {
		return figure.Figure{}, nil
	}
	kind, n := work.Staged(e.Size)
	return figure.Figure{}, q.Stage(ctx, kind, n)
}

// runChild runs the task of a process that this program has started.
func runChild(ctx context.Context, task string, args []string) error {
	switch task {
	case errandTask:
		var e errand
		if err := child.Decode(args[0], &e); err != nil {
			return err
		}
		measured, err := e.run(ctx)
		if err != nil {
			return err
		}
		answer, err := child.Encode(measured)
		return errors.Join(err, child.Answer(answer))
	case machine.Task:
		return machine.Run(ctx, args[0], contenders())
	case postroom.MemoryTask, postroom.IdleTask:
		if len(args) == 2 {
			return postroom.RunAlone(ctx, task, args[0], args[1])
		}
	}
	return fmt.Errorf("no such task: %q of %q", task, args)
}
