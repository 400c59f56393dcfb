package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// A Stop says that no action starts, and who stopped it.
type Stop struct {
	By  string // empty if the file is why
	Why string
	At  time.Time // zero if the file is why
	// File is [Config].StopFile if the file is the reason: it exists, or cannot be read.
	File string
	// Undos reports that undos are carried out nevertheless.
	Undos bool
}

// String describes who stopped, when and why, for people.
func (s *Stop) String() string {
	if s.File != "" {
		return "stopped: " + s.Why
	}
	text := fmt.Sprintf("stopped by %s on %s", s.By, s.At.UTC().Format(time.RFC3339))
	if s.Why != "" {
		text += ": " + s.Why
	}
	return text
}

type switchRow struct {
	Stopped int         `db:"stopped"`
	Undos   int         `db:"undos"`
	By      string      `db:"changed_by"`
	Why     string      `db:"why"`
	At      dbtime.Time `db:"changed_at"`

	AcceptedAt dbtime.Time `db:"accepted_at"` // when a person last accepted a database that was put back
}

// StopOptions are the options of [Ledger.Stop].
type StopOptions struct {
	// Why is the reason for people. Default empty: none.
	Why string
	// Undos lets undos be carried out during the stop. Default false: undos wait as well.
	Undos bool
}

// Stop stops all programs that use the database: from its commit on no action and no undo starts, and none that has failed is
// tried again; see [Ledger.Start]. An attempt that is running at that instant ends. Decisions are still recorded, people can
// approve and reject, and queued actions wait until [Ledger.Resume]. If Stop is called again, the last name, reason and options
// hold.
//
// by is the person or program that stops, and must not be blank.
func (l *Ledger) Stop(ctx context.Context, tx queue.Tx, by string, o StopOptions) error {
	return l.flip(ctx, tx, EventStopped, by, o.Why, true, o.Undos)
}

// Resume ends a [Ledger.Stop]. If the file [Config].StopFile exists, it must be removed as well. If nothing is stopped, Resume
// writes nothing and returns nil. by must not be blank.
func (l *Ledger) Resume(ctx context.Context, tx queue.Tx, by, why string) error {
	return l.flip(ctx, tx, EventResumed, by, why, false, false)
}

func (l *Ledger) flip(ctx context.Context, tx queue.Tx, kind EventKind, by, why string, stopped, undos bool) error {
	if strings.TrimSpace(by) == "" {
		return fmt.Errorf("safety: %s: the name of who does it is blank, and it goes on record", kind)
	}
	by, why = dbvalue.Clean(by), dbvalue.Clean(why)
	statement := setSwitch
	if !stopped {
		statement = resetSwitch
	}
	changed, err := dbquery.Exec(ctx, tx, statement, dbvalue.Number(undos), by, why, dbtime.Of(queue.Now(tx)))
	if err != nil {
		return fmt.Errorf("safety: %s: %w", kind, err)
	}
	if changed == 0 {
		return nil
	}
	return l.event(ctx, tx, Event{Kind: kind, By: by, Why: why})
}

// Stopped returns why no action starts; nil if actions start. It checks the file first.
func (l *Ledger) Stopped(ctx context.Context) (*Stop, error) {
	if s := l.fileStop(); s != nil {
		return s, nil
	}
	var row switchRow
	err := dbquery.Get(ctx, l.cfg.DB.Reader(), &row, selectSwitch)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // none is no error, and no stop
	case err != nil:
		return nil, fmt.Errorf("safety: read whether all is stopped: %w", err)
	}
	return row.stop(), nil
}

// stop returns nil if nothing is stopped.
func (r *switchRow) stop() *Stop {
	if r.Stopped == 0 {
		return nil
	}
	return &Stop{By: r.By, Why: r.Why, At: r.At.Time, Undos: r.Undos != 0}
}

// fileStop also stops if the file cannot be read, since whoever put it there wants to stop.
func (l *Ledger) fileStop() *Stop {
	if l.cfg.StopFile == "" {
		return nil
	}
	_, err := os.Lstat(l.cfg.StopFile)
	switch {
	case err == nil:
		return &Stop{File: l.cfg.StopFile, Why: "the file " + l.cfg.StopFile + " exists; remove it to go on"}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return &Stop{File: l.cfg.StopFile, Why: "the file that stops everything cannot be looked at: " + err.Error()}
}

// held returns a [*postroom.HeldError] if nothing may start.
func held(reason string, until time.Time) error {
	return &postroom.HeldError{Reason: reason, Until: until}
}

// heldByStop holds an action that starts, or is tried again, during a stop or a dry run.
func (l *Ledger) heldByStop(row *switchRow, isUndo bool) error {
	if s := l.fileStop(); s != nil {
		return held(s.String(), time.Time{})
	}
	if s := row.stop(); s != nil && (!isUndo || !s.Undos) {
		return held(s.String(), time.Time{})
	}
	if l.cfg.DryRun {
		return held("this is a dry run: nothing is carried out", time.Time{})
	}
	return nil
}

// Held returns a [*postroom.HeldError] while nothing may be changed in a mailbox; otherwise nil or the error of the database. It
// is for changes that are no action of the ledger, such as the end of a snooze.
func (l *Ledger) Held(ctx context.Context) error {
	var row switchRow
	if err := dbquery.Get(ctx, l.cfg.DB.Reader(), &row, selectSwitch); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("safety: read whether all is stopped: %w", err)
	}
	if err := l.heldByStop(&row, false); err != nil {
		return err
	}
	return l.checkpoint.check(ctx, l.cfg.DB.Reader(), l.cfg.Audit)
}
