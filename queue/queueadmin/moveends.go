package queueadmin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom/queue/driver"
)

// ErrSameDatabase: [Move] was given one database twice, by one handle or by two.
var ErrSameDatabase = errors.New("the old and the new database are the same")

// A source is a database that [Move] empties.
type source interface {
	driver.Driver
	driver.MoveSource
}

// A target is a database that [Move] fills.
type target interface {
	driver.Driver
	driver.MoveTarget
}

func sourceOf(db driver.DB) (source, error) {
	if s, ok := db.(source); ok {
		return s, nil
	}
	return nil, fmt.Errorf("jobs cannot be moved from a %T: it does not implement driver.MoveSource", db)
}

func targetOf(db driver.DB) (target, error) {
	if t, ok := db.(target); ok {
		return t, nil
	}
	return nil, fmt.Errorf("jobs cannot be moved to a %T: it does not implement driver.MoveTarget", db)
}

// check refuses databases without the queue's tables, and one database that was given twice: to move its jobs there would
// delete them all.
func (m *mover) check(ctx context.Context) error {
	for _, end := range []struct {
		name string
		db   driver.DB
	}{{"the old database", m.from}, {"the new database", m.to}} {
		if c, ok := end.db.(driver.TableChecker); ok {
			if err := c.CheckTables(ctx); err != nil {
				return fmt.Errorf("%s: %w", end.name, err)
			}
		}
	}
	return m.apart(ctx)
}

// apart fails when what is written in the one database is seen in the other. What it writes is a worker without jobs: if the
// process dies before it is removed, a dispatcher removes it.
func (m *mover) apart(ctx context.Context) error {
	id := "move-" + uuid.NewString()
	if _, err := m.from.Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: id, First: true, Now: time.Now()}); err != nil {
		return err
	}
	workers, err := m.to.Workers(ctx)
	if err = errors.Join(err, m.from.RemoveWorker(context.WithoutCancel(ctx), id)); err != nil {
		return err
	}
	if slices.ContainsFunc(workers, func(w driver.Worker) bool { return w.ID == id }) {
		return ErrSameDatabase
	}
	return nil
}
