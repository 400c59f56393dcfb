package queueadmin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom/queue/driver"
)

// ErrMoving reports that another [Move] from the same database is running.
var ErrMoving = errors.New("another move from the old database is running")

const (
	// moverPrefix begins the ids of the workers that are calls of [Move]. Those of others begin with the name of a host,
	// which has no colon.
	moverPrefix = "move:"
	// moveBeat is how often a call shows that it is running, and moveLease how long one may show nothing before another
	// takes it for dead.
	moveBeat  = time.Second
	moveLease = 10 * time.Second
)

func isMover(worker driver.Worker) bool { return strings.HasPrefix(worker.ID, moverPrefix) }

// enter registers the call in the old database, as a worker without jobs, unless another one is running there. The
// context that it returns is done with [ErrMoving] if another has taken this one for dead. The caller calls leave at
// the end. A call that has died leaves its worker behind, which the next call or a dispatcher removes.
func (m *mover) enter(ctx context.Context) (working context.Context, leave func(), err error) {
	m.id = moverPrefix + uuid.NewString()
	if _, err := m.beat(ctx, true); err != nil {
		return nil, nil, err
	}
	working, cancel := context.WithCancelCause(ctx)
	var beating sync.WaitGroup
	beating.Go(func() { m.beatUntilDone(working, cancel) })
	leave = func() {
		cancel(nil)
		beating.Wait()
		// What is left behind without it delays the next call, and does no harm.
		_ = m.from.RemoveWorker(context.WithoutCancel(ctx), m.id)
	}
	if err := m.refuseOthers(working); err != nil {
		leave()
		return nil, nil, err
	}
	return working, leave, nil
}

func (m *mover) beat(ctx context.Context, first bool) (alive bool, err error) {
	return m.from.Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: m.id, First: first, Types: []string{},
		Now: driver.Now(m.from.Driver)})
}

// beatUntilDone keeps the call registered. Not only another call removes it: a dispatcher does that is exclusive, or
// whose lease is shorter than a beat.
func (m *mover) beatUntilDone(ctx context.Context, cancel context.CancelCauseFunc) {
	for lost := false; sleep(ctx, moveBeat); {
		if alive, err := m.beat(ctx, false); err == nil && !alive {
			lost = true
		}
		if !lost {
			continue
		}
		if others, err := m.returnAmong(ctx); err == nil {
			lost = false
			if len(others) > 0 {
				cancel(ErrMoving)
			}
		}
	}
}

// returnAmong registers the call again, and returns the others that have begun meanwhile.
func (m *mover) returnAmong(ctx context.Context) ([]driver.Worker, error) {
	if _, err := m.beat(ctx, true); err != nil {
		return nil, err
	}
	return m.others(ctx)
}

// refuseOthers returns [ErrMoving] if a call that was there before this one is alive, and removes those that are not.
// One that comes later finds this one. Of two that come at the same time, each may find the other.
func (m *mover) refuseOthers(ctx context.Context) error {
	before, err := m.others(ctx)
	if err != nil {
		return err
	}
	for began := time.Now(); len(before) > 0; {
		if !sleep(ctx, moveBeat/2) {
			return ctx.Err()
		}
		now, err := m.others(ctx)
		if err != nil {
			return err
		}
		over := time.Since(began) > moveLease
		for _, seen := range before {
			i := slices.IndexFunc(now, func(w driver.Worker) bool { return w.ID == seen.ID })
			if i >= 0 && now[i].Beat != seen.Beat {
				return ErrMoving
			}
			if i >= 0 && over {
				if err := m.removeDead(ctx, seen); err != nil {
					return err
				}
			}
		}
		before = slices.DeleteFunc(before, func(seen driver.Worker) bool {
			return over || !slices.ContainsFunc(now, func(w driver.Worker) bool { return w.ID == seen.ID })
		})
	}
	return nil
}

func (m *mover) removeDead(ctx context.Context, seen driver.Worker) error {
	return driver.Write(ctx, m.from, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := m.from.RemoveDeadWorker(ctx, tx, seen)
		return err
	})
}

// others are the other calls of [Move] that are registered.
func (m *mover) others(ctx context.Context) ([]driver.Worker, error) {
	workers, err := m.from.Workers(ctx)
	return slices.DeleteFunc(workers, func(w driver.Worker) bool { return !isMover(w) || w.ID == m.id }), err
}
