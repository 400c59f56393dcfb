package notes_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A job of the queue, as the handler of a kind sees it.
type attempt struct{ *queue.Attempt }

func (a attempt) JobID() string { return a.Job.ID }

func (a attempt) StepJSON(ctx context.Context, name string, fn func(ctx context.Context) (json.RawMessage,
	error)) (json.RawMessage, error) {
	return queue.Step(ctx, a.Attempt, name, fn)
}

// A turn is what one job does; the next turn is the job after it.
type turn struct {
	action, text string
	undo         bool
}

type work struct {
	Turn int `json:"turn"`
}

const jobNote queue.Type[work] = "note"

// Notes of two messages are written, changed and taken back, wherever the process dies.
func TestANoteIsWrittenOnceWhereverTheProcessDies(t *testing.T) {
	turns := []turn{{"1", "plates", false}, {"2", "forks", false}, {"3", "plates", false}, {"1", "plates", true},
		{"3", "plates", true}}
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		d := newDesk(t, q.DB(), nil)
		d.vault.Outside(queuetest.Outside)
		m, other := d.add(cake()), d.add(cake())
		of := map[string]*postroom.Message{"1": m, "2": m, "3": other}
		_, err := q.Enqueue(t.Context(), jobNote.New(work{}, nil))
		require.NoError(t, err)
		handle := func(ctx context.Context, w *queue.Work[work]) error {
			now := turns[w.Payload.Turn]
			k := notes.Kind(func() *notes.Vault { return d.vault })
			a, run := action(now.action, of[now.action], now.text), attempt{w.Attempt}
			var outcome postroom.Outcome
			var err error
			if now.undo {
				outcome.Commit, err = k.Undo(ctx, run, a)
			} else {
				outcome, err = k.Handler(ctx, run, a)
			}
			if err != nil {
				return err
			}
			return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				if err := outcome.Commit(ctx, tx); err != nil || w.Payload.Turn+1 == len(turns) {
					return err
				}
				_, err := w.Queue().EnqueueTx(ctx, tx, jobNote.New(work{w.Payload.Turn + 1}, nil))
				return err
			})
		}
		return queuetest.Scenario{
			Register: func(disp *queue.Dispatcher) { queue.Handle(disp, jobNote, handle) },
			Outside: func() (lines []string) {
				for _, name := range d.files() {
					lines = append(lines, name+": "+d.read(name))
				}
				return lines
			},
		}
	})
}

// beside is where a file is written before it is put in its place.
func beside(name, content string) string {
	sum := sha256.Sum256([]byte(content))
	sum = sha256.Sum256([]byte(name + "\n" + hex.EncodeToString(sum[:])))
	return filepath.ToSlash(filepath.Join(filepath.Dir(name), ".postroom-"+hex.EncodeToString(sum[:])[:12]+".tmp"))
}

// A process dies within the writing of a file: what it has left is not in the way, and does not stay.
func TestWhatACrashLeavesIsClearedAway(t *testing.T) {
	for name, leave := range map[string]func(d *desk, text string){
		"half a file beside": func(d *desk, text string) { d.write(beside(cakePath, text), text[:10]) },
		"the file beside":    func(d *desk, text string) { d.write(beside(cakePath, text), text) },
		"both files": func(d *desk, text string) {
			d.write(cakePath, text)
			require.NoError(d, os.Link(d.path(cakePath), d.path(beside(cakePath, text))))
		},
		"the file": func(d *desk, text string) { d.write(cakePath, text) },
	} {
		t.Run(name, func(t *testing.T) {
			sure := newDesk(t, dbtest.SQLite(t), nil)
			sure.note("1", sure.add(cake()), "plates")

			d := newDesk(t, dbtest.SQLite(t), nil)
			leave(d, sure.read(cakePath))
			require.Equal(t, cakePath, d.note("1", d.add(cake()), "plates"))
			require.Equal(t, []string{cakePath}, d.files())
			require.Equal(t, sure.read(cakePath), d.read(cakePath))
		})
	}
}

// A person edits a note between the attempts of an action that writes it.
func TestAnEditBetweenAttemptsIsKept(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	m := d.add(cake())
	d.note("1", m, "plates")
	a := action("2", m, "forks")
	_, err := d.handle(a) // and the process dies before its transaction
	require.NoError(t, err)
	mine := d.read(cakePath) + "mine"
	d.write(cakePath, mine)
	next := d.note("2", m, "forks")
	require.NotEqual(t, cakePath, next)
	require.Equal(t, mine, d.read(cakePath))
	require.Contains(t, d.read(next), "forks")
}

// Two processes write notes of one name at the same time.
func TestNotesOfOneNameAreWrittenAtOnce(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	other, err := notes.New(d.cfg)
	require.NoError(t, err)
	// what another process is about to put there
	foreign := beside(cakePath, "another message")
	d.write(foreign, "another message")
	vaults := [...]*notes.Vault{d.vault, other}
	actions := make([]postroom.Action, 8)
	for i := range actions {
		actions[i] = action(strconv.Itoa(i), d.add(cake()), fmt.Sprintf("text %d", i))
		d.run(actions[i].ID)
	}
	var group sync.WaitGroup
	failed := make([]error, len(actions))
	for i, a := range actions {
		kind, run := notes.Kind(func() *notes.Vault { return vaults[i%len(vaults)] }), d.run(a.ID)
		group.Go(func() { _, failed[i] = kind.Handler(t.Context(), run, a) })
	}
	group.Wait()
	require.NoError(t, errors.Join(failed...))
	require.Equal(t, "another message", d.read(foreign))
	require.NoError(t, os.Remove(d.path(foreign)))
	var all strings.Builder
	names := d.files()
	require.Len(t, names, len(failed))
	for _, name := range names {
		all.WriteString(d.read(name))
	}
	for i := range failed {
		require.Contains(t, all.String(), fmt.Sprintf("text %d\n", i))
	}
}
