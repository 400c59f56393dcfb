package postgres

import (
	"context"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Beat implements [queue.Claimer].
func (db *DB) Beat(ctx context.Context, req queue.BeatRequest) (alive bool, err error) {
	var beaten []string
	err = db.Write(ctx, func(ctx context.Context, tx *queue.Tx) error {
		if req.First {
			if err := later(ctx, tx, ensureWorker, req.WorkerID, req.Now); err != nil {
				return err
			}
		}
		return laterInto(ctx, tx, &beaten, scanText, beatWorker, req.Now, jobrow.NullTags(req.Types), req.WorkerID)
	})
	return len(beaten) == 1, err
}

// Workers implements [queue.Claimer].
func (db *DB) Workers(ctx context.Context) ([]queue.Worker, error) {
	return read(ctx, db, jobrow.Worker, selectWorkers)
}

// Bury implements [queue.Claimer]. It passes over jobs that others hold, such as a handler's own transaction, which may yet end
// one: the other jobs do not wait for that.
func (db *DB) Bury(ctx context.Context, tx *queue.Tx, seen queue.Worker) ([]queue.Job, error) {
	if seen.Beat < 0 {
		registered, err := query(ctx, tx, scanText, selectWorker, seen.ID)
		if err != nil || len(registered) > 0 {
			return nil, err
		}
	} else {
		deleted, err := query(ctx, tx, scanText, deleteWorkerAt, seen.ID, seen.Beat)
		if err != nil || len(deleted) == 0 {
			return nil, err
		}
	}
	return query(ctx, tx, jobrow.Job, lockHeld, seen.ID)
}

// Held implements [queue.Claimer].
func (db *DB) Held(ctx context.Context, workerID string) ([]queue.Job, error) {
	return read(ctx, db, jobrow.Job, selectHeld, workerID)
}

// Retire implements [queue.Claimer].
func (db *DB) Retire(ctx context.Context, workerID string) error {
	_, err := db.pool.Exec(ctx, deleteWorker, workerID)
	return err
}

// Verify implements [queue.Claimer].
func (db *DB) Verify(ctx context.Context, leases []queue.Lease) ([]error, error) {
	held, err := read(ctx, db, scanLease, selectLeases, idsOf(leases))
	return judge(leases, held), err
}

func scanText(row jobrow.Scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}
