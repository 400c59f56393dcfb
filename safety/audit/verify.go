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

func (r *Report) faultf(kind, subject, format string, args ...any) {
	if len(r.Faults) < maxFaults {
		r.Faults = append(r.Faults, Fault{kind, subject, fmt.Sprintf(format, args...)})
	}
}

// A Row is a row of a table as it is now, to compare with its entries.
type Row struct {
	Kind, ID string // the kind and the subject of its entries
	Digest   string // of its columns
	Rev      int    // how often it was written; 0: not counted
	Note     string // of an entry at this revision; compared while the row has only its [Decision]

	// Made is the digest of its entry of kind [Decision]. Empty: it has none.
	Made string
	// Unlogged reports that the change to this revision adds no entry.
	Unlogged bool
}

// Decision is the kind of the entry with which a row begins that has [Row].Made.
const Decision = "decision"

// A Table returns up to limit rows whose ids come after the given one, by id.
type Table func(ctx context.Context, q Querier, after string, limit int) ([]Row, error)

// Verify reads the whole log, and finds entries that were altered, removed or inserted. It finds that the end of the
// log was removed, or replaced by another, if heads has a later end. It compares the tables with the log, and finds
// rows that were altered, removed, added or put back. It reads everything in one state of the database.
func (l *Log) Verify(ctx context.Context, heads []Head, tables ...Table) (Report, error) {
	v := verifier{latest: map[[2]string]Entry{}}
	err := dbquery.Snapshot(ctx, l.db.Reader(), func(tx dbquery.Tx) error {
		if err := v.entries(ctx, tx, heads); err != nil {
			return err
		}
		for _, table := range tables {
			if err := v.table(ctx, tx, table); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return v.report, fmt.Errorf("audit: verify the log: %w", err)
	}
	for key := range v.latest {
		v.report.faultf(key[0], key[1], "the log has the row, and it is gone")
	}
	return v.report, nil
}

type verifier struct {
	report Report
	latest map[[2]string]Entry // the last entries, by kind and subject
}

func (v *verifier) entries(ctx context.Context, q Querier, heads []Head) error {
	r, missing := &v.report, map[Head]bool{}
	for _, h := range heads {
		missing[h] = true
	}
	err := eachEntry(ctx, q, func(e *Entry) error {
		where := strconv.FormatInt(e.Number, 10)
		switch {
		case e.Number != r.Head.Entries+1:
			r.faultf("entry", where, "the entries before it are gone, from %d on", r.Head.Entries+1)
		case e.Hash != e.chain(r.Head.Hash):
			r.faultf("entry", where, "it was altered, or the one before")
		}
		r.Entries++
		r.Head = Head{e.Number, e.Hash}
		delete(missing, r.Head)
		if e.Digest != "" {
			v.latest[[2]string{e.Kind, e.Subject}] = *e
		}
		return nil
	})
	for h := range missing {
		r.faultf("head", h.String(), "the log does not have this end, which it had once")
	}
	return err
}

func (v *verifier) table(ctx context.Context, q Querier, table Table) error {
	for after := ""; ; {
		rows, err := table(ctx, q, after, page)
		if err != nil || len(rows) == 0 {
			return err
		}
		for i := range rows {
			v.row(&rows[i])
		}
		after = rows[len(rows)-1].ID
	}
}

// take returns the last entry about a row, which is then compared.
func (v *verifier) take(kind, id string) (e Entry, ok bool) {
	key := [2]string{kind, id}
	e, ok = v.latest[key]
	delete(v.latest, key)
	return e, ok
}

// row compares a row with its entries.
func (v *verifier) row(r *Row) {
	v.report.Rows++
	last, changed := v.take(r.Kind, r.ID)
	made, known := Entry{}, false
	if r.Made != "" {
		made, known = v.take(Decision, r.ID)
	}
	was := last
	if !changed {
		was = made
	}
	switch {
	case r.Made != "" && !known, r.Made == "" && !changed:
		v.report.faultf(r.Kind, r.ID, "the log does not have the row: it was added by something else")
	case r.Made != made.Digest:
		v.report.faultf(Decision, r.ID, "the action or its decision was altered")
	case r.Unlogged && r.Rev == was.Rev+1:
	case r.Rev != was.Rev:
		v.report.faultf(r.Kind, r.ID, "it is at revision %d, and the log at %d: the row was put back, or altered", r.Rev,
			was.Rev)
	case changed && last.Digest != r.Digest, !changed && made.Note != r.Note:
		v.report.faultf(r.Kind, r.ID, "the row was altered, or put back")
	}
}

// Each calls fn for every entry and returns the end of the log. It reads one state of the database, and stops at the
// first error of fn.
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
