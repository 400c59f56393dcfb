package archive

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
)

// A Status says how the archive of an account is.
type Status struct {
	AccountID string
	Email     string
	Messages  int   // that are archived
	Bytes     int64 // of their raw mail, before compression
	Gone      int   // of Messages, that Gmail no longer has
	// Removed counts messages, not among Messages, whose copies were removed on purpose, and RemovedGone those of them
	// that Gmail no longer has; see [Config].KeepMonths.
	Removed, RemovedGone int
	// Unreadable counts messages that Gmail has and that could not be read; the next run tries again.
	Unreadable int
	// Unverified counts messages whose objects were not read since Rebuild.
	Unverified int
	// Faults counts messages whose objects are not right; see [Archive.Faults].
	Faults int

	// Number and Head are the number and the SHA-256 of the last manifest. Keep them elsewhere to be able to trust the
	// bucket alone.
	Number int64
	Head   string
	// Complete reports whether the mailbox was read to its end once. It is false while the first run goes on.
	Complete bool
	// RanAt is when a run last came to its end; zero if none has. FailedAt and Failure are of the last attempt, if it has
	// failed.
	RanAt, FailedAt time.Time
	Failure         string
	// VerifiedAt is when the last verification began; zero if there was none. ChainFault says what was wrong with the
	// manifests then; empty if nothing was.
	VerifiedAt time.Time
	ChainFault string
	// Encrypted reports whether what is written now is encrypted.
	Encrypted bool
}

// Sound reports whether nothing is known to be wrong.
func (s *Status) Sound() bool { return s.Faults == 0 && s.ChainFault == "" && s.Failure == "" }

type counts struct {
	Messages   int   `db:"messages"`
	Bytes      int64 `db:"bytes"`
	Gone       int   `db:"gone"`
	Faults     int   `db:"faults"`
	Unverified int   `db:"unverified"`
	Removed    int   `db:"removed"`
	// RemovedGone are of Removed.
	RemovedGone int `db:"removed_gone"`
}

// List returns the archives that the index knows, by address.
func (a *Archive) List(ctx context.Context) ([]Status, error) {
	var rows []archiveRow
	if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &rows, sqlArchives); err != nil {
		return nil, fmt.Errorf("archive: list: %w", err)
	}
	list := make([]Status, len(rows))
	for i := range rows {
		var err error
		if list[i], err = a.status(ctx, rows[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Status returns the archive of an account; [postroom.ErrNotFound] if nothing was archived.
func (a *Archive) Status(ctx context.Context, accountID string) (Status, error) {
	row, err := a.state(ctx, accountID)
	if err != nil {
		return Status{}, err
	}
	return a.status(ctx, row)
}

func (a *Archive) status(ctx context.Context, r archiveRow) (s Status, err error) {
	var n counts
	var unreadable int
	err = dbquery.Get(ctx, a.cfg.DB.Reader(), &n, sqlCount, r.AccountID)
	if err == nil {
		err = dbquery.Get(ctx, a.cfg.DB.Reader(), &unreadable, sqlCountUnarchived, r.AccountID)
	}
	if err != nil {
		return s, fmt.Errorf("archive: count messages of account %s: %w", r.AccountID, err)
	}
	return Status{AccountID: r.AccountID, Email: r.Email, Messages: n.Messages, Bytes: n.Bytes, Gone: n.Gone,
		Removed: n.Removed, RemovedGone: n.RemovedGone,
		Unreadable: unreadable, Unverified: n.Unverified, Faults: n.Faults, Number: r.Number, Head: r.Head,
		Complete: r.HistoryID != 0 && r.ListingHistory == 0, RanAt: r.RanAt.Time, FailedAt: r.FailedAt.Time,
		Failure: r.Failure, VerifiedAt: r.VerifiedAt.Time, ChainFault: r.ChainFault, Encrypted: a.sealed()}, nil
}

// Faults lists messages whose objects are not right, at most most.
func (a *Archive) Faults(ctx context.Context, accountID string, most int) ([]Fault, error) {
	var rows []messageRow
	if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &rows, sqlFaults, accountID, most); err != nil {
		return nil, fmt.Errorf("archive: faults of account %s: %w", accountID, err)
	}
	list := make([]Fault, len(rows))
	for i := range rows {
		list[i] = a.fault(accountID, &rows[i], rows[i].Fault)
	}
	return list, nil
}
