package archive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gocloud.dev/gcerrors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// ErrRemoved reports a message whose copy was removed on purpose; see [Config].KeepMonths.
var ErrRemoved = errors.New("its copy was removed on purpose, since the archive keeps nothing that old (archive.keep)")

// oldest is when the messages that are kept were received: the beginning of a month.
func (a *Archive) oldest() time.Time {
	now := a.cfg.Now().UTC()
	return time.Date(now.Year(), now.Month()-time.Month(a.cfg.KeepMonths), 1, 0, 0, 0, 0, time.UTC)
}

// removeOld removes some copies that are too old at the end of a run, and enqueues the next job. The manifests stay,
// and one more says what is removed, before anything is: what a crash leaves is deleted by the next run.
func (a *Archive) removeOld(ctx context.Context, w *queue.Work[RunPayload]) error {
	p := w.Payload
	account, err := a.cfg.Store.Account(ctx, p.AccountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return queue.Cancel(err)
	}
	n := 0
	if err == nil {
		n, err = a.removeSome(ctx, p.AccountID, account.Email)
	}
	if err != nil {
		return a.failed(ctx, p.AccountID, err)
	}
	p.Removed += n
	w.SetResult(map[string]int{"archived": p.Archived, "unreadable": p.Unreadable, "removed": p.Removed})
	if n == sliceMessages {
		p.Step++
		return goOn(ctx, w, p.job(), nil)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, sqlRan, dbtime.Of(queue.Now(tx)), p.AccountID)
		return err
	})
}

func (a *Archive) removeSome(ctx context.Context, accountID, email string) (removed int, err error) {
	unlock, err := a.lock(ctx, accountID)
	if err != nil {
		return 0, err
	}
	defer unlock()
	var rows []messageRow
	if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &rows, sqlTooOld, accountID, dbtime.Of(a.oldest()),
		sliceMessages); err != nil {
		return 0, fmt.Errorf("archive: old messages of account %s: %w", accountID, err)
	}
	if len(rows) > 0 {
		m := &manifest{}
		for i := range rows {
			e, err := rows[i].entry()
			if err != nil {
				return 0, err
			}
			e.Removed = true
			m.lines = append(m.lines, line{Mail: &e})
		}
		if err := a.addLocked(ctx, accountID, email, m); err != nil {
			return 0, err
		}
	}
	return len(rows), a.deleteRemoved(ctx, accountID)
}

// deleteRemoved deletes the objects of messages that are removed. The caller has the lock.
func (a *Archive) deleteRemoved(ctx context.Context, accountID string) error {
	for {
		var rows []messageRow
		if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &rows, sqlRemoving, accountID, sliceMessages); err != nil {
			return fmt.Errorf("archive: removed messages of account %s: %w", accountID, err)
		}
		if len(rows) == 0 {
			return nil
		}
		for i := range rows {
			if err := a.deleteObject(ctx, accountID, rows[i].SHA256); err != nil {
				return err
			}
		}
		err := a.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			if _, err := dbquery.Exec(ctx, tx, sqlTakeTurn, accountID); err != nil {
				return err
			}
			for i := range rows {
				if _, err := dbquery.Exec(ctx, tx, sqlIsRemoved, accountID, rows[i].MessageID); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("archive: removed messages of account %s: %w", accountID, err)
		}
	}
}

// deleteObject deletes the object of a message unless another one has it.
func (a *Archive) deleteObject(ctx context.Context, accountID, sum string) error {
	var needed int
	if err := dbquery.Get(ctx, a.cfg.DB.Reader(), &needed, sqlIsNeeded, accountID, sum); err != nil {
		return fmt.Errorf("archive: account %s: %w", accountID, err)
	}
	if needed > 0 {
		return nil
	}
	for _, sealed := range []bool{false, true} {
		key := rawKey(accountID, sum, sealed)
		if err := a.cfg.Bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return fmt.Errorf("archive: delete %s: %w", key, err)
		}
	}
	return nil
}
