package queueadmin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// ErrSameDatabase reports that both databases of a [Move] are the same, by one handle or by two.
var ErrSameDatabase = errors.New("the old and the new database are the same")

// A source is a database that [Move] empties.
type source struct {
	driver.Driver
	driver.MoveSource
}

// A target is a database that [Move] fills.
type target struct {
	driver.Driver
	driver.MoveTarget
}

func sourceOf(db queue.DB) (source, error) {
	d, err := driverOf(db, "old")
	if err != nil {
		return source{}, err
	}
	if s, ok := driver.As[driver.MoveSource](d); ok {
		return source{d, s}, nil
	}
	return source{}, fmt.Errorf("jobs cannot be moved from a %T: it does not implement driver.MoveSource", d)
}

func targetOf(db queue.DB) (target, error) {
	d, err := driverOf(db, "new")
	if err != nil {
		return target{}, err
	}
	if t, ok := driver.As[driver.MoveTarget](d); ok {
		return target{d, t}, nil
	}
	return target{}, fmt.Errorf("jobs cannot be moved to a %T: it does not implement driver.MoveTarget", d)
}

func driverOf(db queue.DB, which string) (driver.Driver, error) {
	if db == nil || db.Driver() == nil {
		return nil, fmt.Errorf("the %s database is nil: open it with queue/sqlite or queue/postgres", which)
	}
	return db.Driver(), nil
}

// check refuses databases without the queue's tables.
func (m *mover) check(ctx context.Context) error {
	for _, end := range []struct {
		name string
		db   driver.Driver
	}{{"the old database", m.from.Driver}, {"the new database", m.to.Driver}} {
		if c, ok := driver.As[driver.TableChecker](end.db); ok {
			if err := c.CheckTables(ctx); err != nil {
				return fmt.Errorf("%s: %w", end.name, err)
			}
		}
	}
	return nil
}

// apart refuses the same database given twice, in which a move would delete all jobs: the row that the call has written
// in the old database is visible in the new one.
func (m *mover) apart(ctx context.Context) error {
	workers, err := m.to.Workers(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(workers, func(w driver.Worker) bool { return w.ID == m.id }) {
		return ErrSameDatabase
	}
	return nil
}
