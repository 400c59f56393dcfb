package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// Most jobs are enqueued singly and need only a row. Those of all callers that wait for their turn at the same time become rows
// of one statement, without a turn and a savepoint for each.

var _ driver.GroupInserter = (*engine)(nil)

// InsertGroup implements [driver.GroupInserter].
func (db *engine) InsertGroup(ctx context.Context, jobs []driver.InsertJob) error {
	if len(jobs) == 0 {
		return nil
	}
	return db.writer.insert(ctx, jobs)
}

// insert returns when the jobs are committed, or none of them.
func (w *writer) insert(ctx context.Context, jobs []driver.InsertJob) error {
	if err := mayBegin(ctx); err != nil {
		return err
	}
	r := &request{arrived: time.Now(), turn: make(chan struct{}), jobs: jobs}
	if err := w.await(ctx, r); err != nil {
		return err
	}
	return advise(r.err, w.name)
}

// insertAll inserts the jobs of the requests with one statement if the database accepts them all, otherwise request by request,
// so that only the faulty one fails. Like run it returns an error only if the transaction is unusable.
func (w *writer) insertAll(requests []*request, behind bool) error {
	if len(requests) == 0 {
		return nil
	}
	err := w.insertSome(requests, behind || len(requests) > 1)
	if err == nil || w.statements.gone() {
		return err
	}
	if len(requests) == 1 {
		requests[0].err = err
		if !behind {
			return err
		}
		return nil
	}
	for _, r := range requests {
		if r.err = w.insertSome([]*request{r}, true); r.err != nil && w.statements.gone() {
			return r.err
		}
	}
	return nil
}

// insertSome undoes its writes if it fails and others share the transaction.
func (w *writer) insertSome(requests []*request, shared bool) error {
	if shared {
		if err := w.exec("SAVEPOINT postroom_inserts"); err != nil {
			return err
		}
	}
	err := w.insertRows(requests)
	switch {
	case err != nil && w.statements.gone():
		return errors.Join(errGone, err)
	case !shared:
		return err
	case err != nil:
		if e := w.exec("ROLLBACK TO postroom_inserts"); e != nil {
			return fmt.Errorf("%w (rolling back after: %w)", e, err)
		}
	}
	return errors.Join(err, w.exec("RELEASE postroom_inserts"))
}

func (w *writer) insertRows(requests []*request) error {
	var rows []*driver.InsertJob
	for _, r := range requests {
		for i := range r.jobs {
			rows = append(rows, &r.jobs[i])
		}
	}
	tx := driver.NewWriteTx(w.statements, driver.SQLite, w.now())
	for chunk := range slices.Chunk(rows, maxRows) {
		if err := insert(context.Background(), tx, chunk, false); err != nil {
			return err
		}
	}
	return nil
}
