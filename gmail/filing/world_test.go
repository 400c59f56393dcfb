package filing_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/filing"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

var noon = time.Date(2026, time.December, 1, 12, 0, 0, 0, time.UTC)

const owner = "ada@example.org"

// A desk is a cabinet in a folder, and the mail whose files it keeps.
type desk struct {
	testing.TB

	db      queue.DB
	folder  string
	cabinet *filing.Cabinet
	mail    map[string]*postroom.Message
	files   map[string][]filing.File // by message
	runs    map[string]*memory       // by action
	hints   map[string]*postroom.UndoHint
}

func newDesk(t testing.TB, db queue.DB, change func(*filing.Config)) *desk {
	t.Helper()
	require.NoError(t, filing.Migrate(t.Context(), db))
	d := &desk{TB: t, db: db, folder: t.TempDir(), mail: map[string]*postroom.Message{},
		files: map[string][]filing.File{}, runs: map[string]*memory{}, hints: map[string]*postroom.UndoHint{}}
	cfg := filing.Config{DB: db, Folder: d.folder, Zone: time.UTC, Now: func() time.Time { return noon },
		Message: func(_ context.Context, _, id string) (*postroom.Message, error) {
			if m := d.mail[id]; m != nil {
				return m, nil
			}
			return nil, postroom.ErrNotFound
		},
		Mailbox: func(context.Context, string) (string, error) { return owner, nil },
		Files:   func(_ context.Context, m *postroom.Message) ([]filing.File, error) { return d.files[m.ID], nil }}
	if change != nil {
		change(&cfg)
	}
	var err error
	d.cabinet, err = filing.New(cfg)
	require.NoError(t, err)
	return d
}

func onBoth(t *testing.T, test func(d *desk)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db queue.DB) { test(newDesk(t, db, nil)) })
}

// add stores a message with files.
func (d *desk) add(files ...filing.File) *postroom.Message {
	n := len(d.mail) + 1
	m := &postroom.Message{AccountID: "ada", ID: fmt.Sprintf("m-%d", n), ProviderID: fmt.Sprintf("18c%d", n),
		Subject: "Cake", From: postroom.Address{Name: "Ben", Email: "Ben@example.com"}, ReceivedAt: noon}
	d.mail[m.ID], d.files[m.ID] = m, files
	return m
}

func named(name, content string) filing.File {
	return filing.File{Name: name, Content: []byte(content)}
}

func action(id string, m *postroom.Message, p postroom.Parameters) postroom.Action {
	return postroom.Action{ID: id, AccountID: "ada", MessageID: m.ID, Type: filing.FileAttachments, Parameters: p}
}

func (d *desk) kind() postroom.Kind { return filing.Kind(func() *filing.Cabinet { return d.cabinet }) }

// handle does what the action's job does before it completes.
func (d *desk) handle(a postroom.Action) (postroom.Commit, error) {
	outcome, err := d.kind().Handler(d.Context(), d.run(a.ID), a)
	d.hints[a.ID] = &postroom.UndoHint{Undo: outcome.Undo}
	return outcome.Commit, err
}

func (d *desk) commit(commit postroom.Commit) {
	d.Helper()
	require.NoError(d, d.db.Write(d.Context(), func(ctx context.Context, tx queue.Tx) error { return commit(ctx, tx) }))
}

// file carries out an action, and returns what it says.
func (d *desk) file(id string, m *postroom.Message, p postroom.Parameters) string {
	d.Helper()
	require.NoError(d, d.kind().Check(p, noon))
	commit, err := d.handle(action(id, m, p))
	require.NoError(d, err)
	d.commit(commit)
	a := action(id, m, p)
	a.UndoHint = d.hints[id]
	return filing.Told(a)[0]
}

func (d *desk) undo(id string, m *postroom.Message) error {
	d.Helper()
	a := action(id, m, nil)
	a.UndoHint = d.hints[id]
	delete(d.runs, "undo "+id)
	commit, err := d.kind().Undo(d.Context(), d.run("undo "+id), a)
	if err == nil {
		d.commit(commit)
	}
	return err
}

func (d *desk) run(id string) *memory {
	if d.runs[id] == nil {
		d.runs[id] = &memory{steps: map[string]json.RawMessage{}}
	}
	return d.runs[id]
}

func (d *desk) path(name string) string { return filepath.Join(d.folder, filepath.FromSlash(name)) }

func (d *desk) read(name string) string {
	d.Helper()
	text, err := os.ReadFile(d.path(name))
	require.NoError(d, err)
	return string(text)
}

func (d *desk) write(name, text string) {
	d.Helper()
	require.NoError(d, os.MkdirAll(filepath.Dir(d.path(name)), 0o700))
	require.NoError(d, os.WriteFile(d.path(name), []byte(text), 0o600))
}

// list lists all files of the folder.
func (d *desk) list() (names []string) {
	d.Helper()
	require.NoError(d, filepath.WalkDir(d.folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(d.folder, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	return names
}

// A memory is the steps of a job.
type memory struct{ steps map[string]json.RawMessage }

var _ postroom.Run = (*memory)(nil)

func (m *memory) JobID() string { return "job" }

func (m *memory) StepJSON(ctx context.Context, name string, fn func(ctx context.Context) (json.RawMessage,
	error)) (json.RawMessage, error) {
	if stored, ok := m.steps[name]; ok {
		return stored, nil
	}
	result, err := fn(ctx)
	if err == nil {
		m.steps[name] = result
	}
	return result, err
}

func (m *memory) StartStep(_ context.Context, name string) error {
	m.steps[name] = nil
	return nil
}

func (m *memory) StepStarted(_ context.Context, name string) (bool, error) {
	_, ok := m.steps[name]
	return ok, nil
}

// isFatal reports whether an error of a handler ends its job at once.
func isFatal(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { // the outermost error is the joined one
		err = joined.Unwrap()[0]
	}
	return assert.ObjectsAreEqual(queue.Fatal(errors.Unwrap(err)), err)
}
