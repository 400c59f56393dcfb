package audit

import (
	"context"
	"fmt"
	"strconv"

	"github.com/postroom-go/postroom/internal/dbquery"
)

// A Report is the result of verifying the log.
type Report struct {
	Entries int64 // of the log
	Rows    int64 // that were compared with the log
	// Head is the end of the log. Keep it where nobody can write who can write to this database.
	Head Head
	// Faults lists the mismatches, at most 1000; it is empty if there are none.
	Faults []Fault
}

// A Fault is one mismatch.
type Fault struct {
	Kind    string `json:"kind"`    // entry, head, or the kind of an entry; see [Entry]
	Subject string `json:"subject"` // the id of the row, or the number of the entry
	What    string `json:"what"`    // for people
}

const (
	maxFaults = 1000
	page      = 2000
)

// Faultf adds a fault.
func (r *Report) Faultf(kind, subject, format string, args ...any) {
	if len(r.Faults) < maxFaults {
		r.Faults = append(r.Faults, Fault{kind, subject, fmt.Sprintf(format, args...)})
	}
}

// Verify reads the whole log, and finds entries that were altered, removed or inserted. It finds that the end of the log was
// removed, or replaced by another, if heads has a later end. It calls each for every entry and stops at its first error. q should
// be a transaction that reads one state of the database.
func (l *Log) Verify(ctx context.Context, q Querier, heads []Head, each func(*Entry) error) (r Report, err error) {
	missing := map[Head]bool{}
	for _, h := range heads {
		missing[h] = true
	}
	err = eachEntry(ctx, q, func(e *Entry) error {
		where := strconv.FormatInt(e.Number, 10)
		switch {
		case e.Number != r.Head.Entries+1:
			r.Faultf("entry", where, "the entries before it are gone, from %d on", r.Head.Entries+1)
		case e.Hash != e.chain(r.Head.Hash):
			r.Faultf("entry", where, "it was altered, or the one before")
		}
		r.Entries++
		r.Head = Head{e.Number, e.Hash}
		delete(missing, r.Head)
		return each(e)
	})
	for _, h := range heads {
		if missing[h] {
			r.Faultf("head", h.String(), "the log does not have this end, which it had once")
			delete(missing, h)
		}
	}
	return r, err
}

// Each calls fn for every entry and returns the end of the log. It reads one state of the database, and stops at the first error
// of fn.
func (l *Log) Each(ctx context.Context, fn func(*Entry) error) (head Head, err error) {
	err = dbquery.Snapshot(ctx, l.db.Reader(), func(tx dbquery.Tx) error {
		return eachEntry(ctx, tx, func(e *Entry) error {
			head = Head{e.Number, e.Hash}
			return fn(e)
		})
	})
	return head, err
}

func eachEntry(ctx context.Context, q Querier, fn func(*Entry) error) error {
	for last := int64(0); ; {
		var entries []Entry
		if err := dbquery.Select(ctx, q, &entries, selectEntries, last, page); err != nil {
			return fmt.Errorf("audit: read the log: %w", err)
		}
		if len(entries) == 0 {
			return nil
		}
		for i := range entries {
			if err := fn(&entries[i]); err != nil {
				return err
			}
		}
		last = entries[len(entries)-1].Number
	}
}
