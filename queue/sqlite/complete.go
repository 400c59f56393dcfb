package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

var completeStatements, completeReturning = completions(""), completions(returningEnded)

func completions(returning string) [maxRows + 1]string {
	texts := valueStatements(completeJobs, ofHeldLeases+returning, 1, func(first int) string {
		return fmt.Sprintf("($%d, $%d, $%d, $%d)", first, first+1, first+2, first+3)
	}, 4)
	texts[1] = completeJob + returning
	return texts
}

func completeArgs(outcomes []*driver.Outcome) []any {
	args := make([]any, 0, 4*len(outcomes))
	for _, out := range outcomes {
		args = append(args, out.Lease.JobID, out.Lease.Attempt, null(string(out.Result)), dbtime.Format(out.At))
	}
	return args
}

func isPlain(out *driver.Outcome) bool { return out.Kind == driver.KindCompleted && out.Plain }

// completePlain completes the outcomes if all leases are held, which is usual, without reading back the ended jobs.
// Otherwise it writes nothing and returns false.
func completePlain(ctx context.Context, tx *driver.WriteTx, outcomes []*driver.Outcome) (done bool, err error) {
	if len(outcomes) == 0 {
		return true, nil
	}
	if len(outcomes) == 1 { // it writes all or nothing
		return completeWhileHeld(ctx, tx, outcomes)
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT postroom_plain"); err != nil {
		return false, err
	}
	done, err = completeWhileHeld(ctx, tx, outcomes)
	if !done {
		_, e := tx.ExecContext(ctx, "ROLLBACK TO postroom_plain")
		err = errors.Join(err, e)
	}
	_, e := tx.ExecContext(ctx, "RELEASE postroom_plain")
	return done, errors.Join(err, e)
}

// completeWhileHeld returns false if a lease is no longer held.
func completeWhileHeld(ctx context.Context, tx *driver.WriteTx, outcomes []*driver.Outcome) (bool, error) {
	for len(outcomes) > 0 {
		n, query := alike(outcomes), completeAlike
		var args []any
		if n >= minAlike {
			args = []any{dbtime.Of(outcomes[0].At), outcomes[0].Lease.Attempt, jobIDs(outcomes[:n])}
		} else {
			n = min(len(outcomes), maxRows)
			query, args = completeStatements[n], completeArgs(outcomes[:n])
		}
		res, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return false, err
		}
		if done, err := res.RowsAffected(); err != nil || done != int64(n) {
			return false, err
		}
		outcomes = outcomes[n:]
	}
	return true, nil
}

// minAlike is the number of equal outcomes from which a separate statement pays.
const minAlike = 12

// alike returns the number of first outcomes that differ only in their jobs.
func alike(outcomes []*driver.Outcome) int {
	first := outcomes[0]
	differs := func(out *driver.Outcome) bool {
		return out.Result != nil || out.Lease.Attempt != first.Lease.Attempt || !out.At.Equal(first.At)
	}
	if n := slices.IndexFunc(outcomes, differs); n >= 0 {
		return n
	}
	return len(outcomes)
}

// jobIDs returns the ids of the ended jobs.
func jobIDs(outcomes []*driver.Outcome) string {
	ids := make([]string, len(outcomes))
	for i, out := range outcomes {
		ids[i] = out.Lease.JobID
	}
	return list(ids)
}
