// Package stop is the switch that stops all actions: by a row for all processes that share a database, or by a file
// for one process.
package stop

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
	"github.com/postroom-go/postroom/safety/events"
)

// A Stop says that no action starts, and who stopped it.
type Stop struct {
	By  string // empty if the file is why
	Why string
	At  time.Time // zero if the file is why
	// File is the file that stops the process if that is the reason: it exists, or cannot be read.
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

// Options are the options of [Switch.Stop].
type Options struct {
	// Why is the reason for people. Default empty: none.
	Why string
	// Undos lets undos be carried out during the stop. Default false: undos wait as well.
	Undos bool
}

// A Switch stops all actions and lets them go on. It is safe for concurrent use. [New] makes one.
type Switch struct {
	db     queue.DB
	file   string
	events *events.Log
}

// New returns the switch of a database that safety.Migrate has prepared. While the file exists, or cannot be read, the
// process is stopped as well; empty means no file.
func New(db queue.DB, file string, log *events.Log) *Switch {
	return &Switch{db: db, file: file, events: log}
}

// Stop stops all programs that use the database: from its commit on no action and no undo starts, and none that has
// failed is tried again. An attempt that is running at that instant ends. Decisions are still recorded, people can
// approve and reject, and queued actions wait until [Switch.Resume]. If Stop is called again, the last name, reason and
// options hold.
//
// by is the person or program that stops, and must not be blank.
func (s *Switch) Stop(ctx context.Context, tx queue.Tx, by string, o Options) error {
	return s.flip(ctx, tx, turnOn, events.Event{Kind: events.Stopped, By: by, Why: o.Why}, o.Undos)
}

// Resume ends a [Switch.Stop]. If the file that stops the process exists, it must be removed as well. If nothing is
// stopped, Resume writes nothing and returns nil. by must not be blank.
func (s *Switch) Resume(ctx context.Context, tx queue.Tx, by, why string) error {
	return s.flip(ctx, tx, turnOff, events.Event{Kind: events.Resumed, By: by, Why: why}, false)
}

func (s *Switch) flip(ctx context.Context, tx queue.Tx, statement string, e events.Event, undos bool) error {
	if strings.TrimSpace(e.By) == "" {
		return fmt.Errorf("safety: %s: the name of who does it is blank, and it goes on record", e.Kind)
	}
	changed, err := dbquery.Exec(ctx, tx, statement, dbvalue.Number(undos), dbvalue.Clean(e.By), dbvalue.Clean(e.Why),
		dbtime.Of(queue.Now(tx)))
	if err != nil {
		return fmt.Errorf("safety: %s: %w", e.Kind, err)
	}
	if changed == 0 {
		return nil
	}
	return s.events.Add(ctx, tx, e)
}

// Stopped returns why no action starts; nil if actions start. It checks the file first.
func (s *Switch) Stopped(ctx context.Context) (*Stop, error) {
	if stop := s.byFile(); stop != nil {
		return stop, nil
	}
	row, err := s.Row(ctx)
	return row.stop(), err
}

// Hold returns a [*postroom.HeldError] if an action, or an undo, must not start or be tried again. row is the row of
// the switch, as [Switch.Row] or a query that joins it has read it.
func (s *Switch) Hold(row *Row, isUndo bool) error {
	if stop := s.byFile(); stop != nil {
		return &postroom.HeldError{Reason: stop.String()}
	}
	if stop := row.stop(); stop != nil && (!isUndo || !stop.Undos) {
		return &postroom.HeldError{Reason: stop.String()}
	}
	return nil
}

// byFile also stops if the file cannot be read, since whoever put it there wants to stop.
func (s *Switch) byFile() *Stop {
	if s.file == "" {
		return nil
	}
	_, err := os.Lstat(s.file)
	switch {
	case err == nil:
		return &Stop{File: s.file, Why: "the file " + s.file + " exists; remove it to go on"}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return &Stop{File: s.file, Why: "the file that stops everything cannot be looked at: " + err.Error()}
}

// A Row is the switch in the database. A query that joins the table safety_switch, which has one row or none, selects
// [Columns] into it.
type Row struct {
	Stopped int         `db:"stop.stopped"`
	Undos   int         `db:"stop.undos"`
	By      string      `db:"stop.changed_by"`
	Why     string      `db:"stop.why"`
	At      dbtime.Time `db:"stop.changed_at"`
}

// stop returns nil if nothing is stopped.
func (r *Row) stop() *Stop {
	if r.Stopped == 0 {
		return nil
	}
	return &Stop{By: r.By, Why: r.Why, At: r.At.Time, Undos: r.Undos != 0}
}

// Row reads the row of the switch; zero if there is none.
func (s *Switch) Row(ctx context.Context) (r Row, err error) {
	err = dbquery.Get(ctx, s.db.Reader(), &r, selectSwitch)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return r, fmt.Errorf("safety: read whether all is stopped: %w", err)
	}
	return r, nil
}

// Columns are the columns of a [Row]. They are zero where no row is joined.
const Columns = `COALESCE(safety_switch.stopped, 0) AS "stop.stopped", COALESCE(safety_switch.undos, 0) AS "stop.undos",
  COALESCE(safety_switch.changed_by, '') AS "stop.changed_by", COALESCE(safety_switch.why, '') AS "stop.why",
  safety_switch.changed_at AS "stop.changed_at"`

const (
	selectSwitch = `
SELECT ` + Columns + `
FROM safety_switch
WHERE id = 1`

	turnOn = `
INSERT INTO safety_switch (id, stopped, undos, changed_by, why, changed_at)
VALUES (1, 1, $1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE
SET stopped = 1,
  undos = excluded.undos,
  changed_by = excluded.changed_by,
  why = excluded.why,
  changed_at = excluded.changed_at`

	// No row: nothing is stopped.
	turnOff = `
UPDATE safety_switch
SET stopped = 0,
  undos = $1,
  changed_by = $2,
  why = $3,
  changed_at = $4
WHERE id = 1
  AND stopped = 1`
)
