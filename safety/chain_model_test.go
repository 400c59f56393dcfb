package safety

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// TestNothingGoesOnFromAnOldRow: whatever columns of whatever rows are put back as they were at any time, alone or together, and whether
// or not the end of the log goes with them, an action is started only if it is queued, goes on only with its job and with what was announced while it executes, is approved only while it waits, and is undone only
// once it is completed. What it is, is what the ledger has made of it.
func TestNothingGoesOnFromAnOldRow(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, Migrate(t.Context(), db))
	rapid.Check(t, func(rt *rapid.T) {
		d := newDesk(t, db, func(c *Config) { keyed(1)(c); c.SeenFile = filepath.Join(t.TempDir(), "log.seen") })
		for _, table := range []string{"approvals", "action_links", "actions", "decisions", "message_turns", "audit_entries"} {
			d.exec(`DELETE FROM ` + table)
		}
		d.exec(`UPDATE audit_lanes SET entries = 0, mac = '', seal = ''`)
		w := &chainWorld{desk: d, rt: rt, is: map[string]postroom.ActionState{}, job: map[string]string{}, undo: map[string]string{}, said: map[string]bool{}}
		for range 25 {
			w.step()
		}
	})
}

// A chainWorld knows what has become of each action.
type chainWorld struct {
	*desk
	rt    *rapid.T
	ids   []string
	is    map[string]postroom.ActionState
	job   map[string]string // that executes it
	undo  map[string]string // the undo that counts, by what it undoes
	said  map[string]bool   // what was announced, and not taken back
	saved []savedRows
	ends  []laneRow // of the log, at the same times
}

func (w *chainWorld) step() {
	w.now = w.now.Add(time.Millisecond) // or a log that is cut and goes on could become what it was
	w.saved, w.ends = append(w.saved, w.rows()), append(w.ends, w.end())
	if len(w.ids) == 0 {
		w.recordOne()
		return
	}
	id, job := rapid.SampledFrom(w.ids).Draw(w.rt, "action"), rapid.SampledFrom([]string{"job-1", "job-2"}).Draw(w.rt, "job")
	switch rapid.SampledFrom([]string{"record", "start", "start", "start", "approve", "approve", "complete", "complete", "reject", "fail", "cancel", "undo", "announce", "announce", "put back", "put back", "put back", "restart"}).Draw(w.rt, "step") {
	case "record":
		if len(w.ids) < 2 {
			w.recordOne()
		}
	case "start":
		w.startOne(id, job)
	case "approve":
		w.approveOne(id)
	case "reject":
		if _, err := w.reject(id, "ann", ""); err == nil {
			w.ended(id, postroom.ActionRejected)
		}
	case "complete":
		if w.complete(id, postroom.UndoHint{}) == nil {
			w.ended(id, postroom.ActionCompleted)
		}
	case "fail":
		if w.fail(id, "no network") == nil {
			w.ended(id, postroom.ActionFailed)
		}
	case "cancel":
		if w.cancel(id, "no") == nil {
			w.ended(id, postroom.ActionCanceled)
		}
	case "undo":
		w.undoOne(id, job)
	case "announce":
		w.announceOne(id, rapid.Bool().Draw(w.rt, "something"))
	case "restart":
		if w.ledger.Remember(context.Background()) == nil {
			w.restart()
		}
	case "put back":
		_ = w.ledger.Remember(context.Background()) // as hosts do all the time
		w.putBack()
		w.startOne(id, job)
		w.approveOne(id)
		w.startOne(id, job)
		w.undoOne(id, job)
	}
}

func (w *chainWorld) approveOne(id string) {
	if _, err := w.approve(id, "ann"); err == nil {
		w.was(id, "approved", postroom.ActionApprovedPending)
		w.is[id] = postroom.ActionQueued
	}
}

func (w *chainWorld) recordOne() {
	dec := rapid.SampledFrom([]postroom.Decision{
		rule(postroom.Archive, ""), model(postroom.Delete, 1), model(postroom.Forward, 1, "to", "boss@example.com"),
	}).Draw(w.rt, "decision")
	a := w.record(message("a@example.com"), dec)
	w.ids = append(w.ids, a.ID)
	w.is[a.ID] = a.State
}

// was fails the test unless what the ledger has just done could be done.
func (w *chainWorld) was(id, what string, states ...postroom.ActionState) {
	if !slices.Contains(states, w.is[id]) {
		w.rt.Fatalf("action %s is %s, and was %s", id, w.is[id], what)
	}
}

// ended notes that an action has ended. What ends in spite of what it is can only be what has been altered, and stays ended.
func (w *chainWorld) ended(id string, state postroom.ActionState) {
	if !CanFollow(w.is[id], state) {
		state = postroom.ActionCanceled
	}
	w.is[id] = state
	gone := id // the undo that no longer counts: it has failed, or was undone
	if state == postroom.ActionCompleted {
		gone = w.undoneBy(id)
	}
	delete(w.undo, w.undoneBy(gone))
}

// undoneBy returns what an undo undoes.
func (w *chainWorld) undoneBy(undo string) string {
	for original, by := range w.undo {
		if by == undo {
			return original
		}
	}
	return ""
}

func (w *chainWorld) startOne(id, job string) {
	a, err := w.start(id, job)
	switch {
	case err != nil:
	case a.State == postroom.ActionExecuting && w.is[id] == postroom.ActionExecuting:
		require.Equal(w.rt, w.job[id], job)
		require.Equal(w.rt, w.said[id], a.UndoHint != nil, "what was announced is not forgotten")
	case a.State == postroom.ActionExecuting:
		w.was(id, "started", postroom.ActionQueued)
		w.is[id], w.job[id] = a.State, job
	case a.State == postroom.ActionApprovedPending:
		w.was(id, "held", postroom.ActionQueued)
		w.is[id] = a.State
	default:
		w.ended(id, a.State)
	}
}

func (w *chainWorld) announceOne(id string, something bool) {
	a := w.get(id)
	var announced postroom.Parameters
	if something {
		announced = aSend
	}
	if _, err := w.announce(a, announced); err == nil {
		w.was(id, "announced", postroom.ActionExecuting)
		require.Equal(w.rt, w.said[id], a.UndoHint != nil)
		w.said[id] = something
	}
}

func (w *chainWorld) undoOne(id, job string) {
	a, err := w.startUndo(id, job)
	if err != nil {
		return
	}
	if first, ok := w.undo[id]; ok {
		require.Equal(w.rt, first, a.ID, "it is undone once")
		require.Equal(w.rt, w.job[first], job)
		return
	}
	w.was(id, "undone", postroom.ActionCompleted)
	w.ids = append(w.ids, a.ID)
	w.undo[id], w.is[a.ID], w.job[a.ID] = a.ID, a.State, job
}

// savedRows are the rows of the ledger at a time: by table and key, their columns.
type savedRows map[[2]string]map[string]any

var chainTables = map[string]string{"actions": "id", "approvals": "id", "action_links": "cause_action_id"}

func (w *chainWorld) rows() savedRows {
	all := savedRows{}
	for table, key := range chainTables {
		rows, err := w.db.Reader().QueryxContext(context.Background(), `SELECT * FROM `+table) //nolint:unqueryvet // whatever columns there are
		require.NoError(w.rt, err)
		for rows.Next() {
			columns := map[string]any{}
			require.NoError(w.rt, rows.MapScan(columns))
			all[[2]string{table, fmt.Sprintf("%s", columns[key])}] = columns
		}
		require.NoError(w.rt, rows.Err())
		require.NoError(w.rt, rows.Close())
	}
	return all
}

// putBack puts rows back as they were at some time: all, or some, and of these all columns or some. It may free the turns.
func (w *chainWorld) putBack() {
	when := rapid.IntRange(0, len(w.saved)-1).Draw(w.rt, "time")
	then := w.saved[when]
	if rapid.Bool().Draw(w.rt, "cut the log") {
		w.cut(w.ends[when], then)
		return
	}
	var keys []string
	for key := range then {
		keys = append(keys, strings.Join(key[:], " "))
	}
	if len(keys) == 0 {
		return
	}
	slices.Sort(keys)
	if !rapid.Bool().Draw(w.rt, "all rows") {
		keys = rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, 3, rapid.ID[string]).Draw(w.rt, "rows")
	}
	for _, key := range keys {
		table, id, _ := strings.Cut(key, " ")
		row := then[[2]string{table, id}]
		names := slices.Sorted(maps.Keys(row))
		if rapid.IntRange(0, 2).Draw(w.rt, "some columns") == 0 {
			names = rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID[string]).Draw(w.rt, "columns")
		}
		w.set([2]string{table, id}, row, names)
	}
	if rapid.Bool().Draw(w.rt, "free the turns") {
		w.try(`UPDATE message_turns SET action_id = NULL`)
	}
}

// end is the end of the log.
func (w *chainWorld) end() (lane laneRow) {
	require.NoError(w.rt, dbquery.Get(context.Background(), w.db.Reader(), &lane, selectLane))
	return lane
}

// cut makes the log end where it once did, with all rows that there were.
func (w *chainWorld) cut(lane laneRow, rows savedRows) {
	var macs []string
	require.NoError(w.rt, dbquery.Select(context.Background(), w.db.Reader(), &macs, `SELECT mac FROM audit_entries WHERE entry = $1`, lane.Entries))
	if len(macs) == 0 || macs[0] != lane.MAC { // it was cut further back before
		return
	}
	w.exec(`DELETE FROM audit_entries WHERE entry > $1`, lane.Entries)
	w.exec(`UPDATE audit_lanes SET entries = $1, mac = $2, seal = $3`, lane.Entries, lane.MAC, lane.Seal)
	for key, row := range rows {
		w.set(key, row, slices.Sorted(maps.Keys(row)))
	}
	w.exec(`UPDATE message_turns SET action_id = NULL`)
}

// set writes some columns of a row.
func (w *chainWorld) set(key [2]string, row map[string]any, names []string) {
	var set []string
	var args []any
	for _, name := range names {
		args = append(args, row[name])
		set = append(set, fmt.Sprintf("%s = $%d", name, len(args)))
	}
	w.try(fmt.Sprintf(`UPDATE %s SET %s WHERE %s = $%d`, key[0], strings.Join(set, ", "), chainTables[key[0]], len(args)+1), append(args, key[1])...)
}

// try runs a statement that an index may refuse.
func (w *chainWorld) try(statement string, args ...any) {
	_ = w.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}
