package notes_test

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
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

var noon = time.Date(2026, time.December, 1, 12, 0, 0, 0, time.UTC)

const owner = "ada@example.org"

// A desk is a vault in a folder, and the mail that notes are about.
type desk struct {
	testing.TB

	db     queue.DB
	folder string
	cfg    notes.Config
	vault  *notes.Vault
	store  *notes.Store
	mail   map[string]*postroom.Message
	runs   map[string]*memory // by action
	now    time.Time
}

func newDesk(t testing.TB, db queue.DB, change func(*notes.Config)) *desk {
	t.Helper()
	require.NoError(t, notes.Migrate(t.Context(), db))
	d := &desk{TB: t, db: db, folder: t.TempDir(), mail: map[string]*postroom.Message{}, runs: map[string]*memory{},
		now: noon}
	d.cfg = notes.Config{DB: db, Folder: d.folder, Zone: time.UTC, Now: func() time.Time { return d.now },
		Message: func(_ context.Context, _, id string) (*postroom.Message, error) {
			if m := d.mail[id]; m != nil {
				return m, nil
			}
			return nil, postroom.ErrNotFound
		},
		Mailbox: func(context.Context, string) (string, error) { return owner, nil }}
	if change != nil {
		change(&d.cfg)
	}
	var err error
	d.vault, err = notes.New(d.cfg)
	require.NoError(t, err)
	d.store, err = notes.NewStore(db)
	require.NoError(t, err)
	return d
}

func onBoth(t *testing.T, test func(d *desk)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db queue.DB) { test(newDesk(t, db, nil)) })
}

// add stores a message, with what a message has that nobody cares for.
func (d *desk) add(m *postroom.Message) *postroom.Message {
	m.AccountID = "ada"
	if m.ID == "" {
		m.ID = fmt.Sprintf("m-%d", len(d.mail)+1)
	}
	if m.ProviderID == "" {
		m.ProviderID = fmt.Sprintf("18c%d", len(d.mail)+1)
	}
	if m.ThreadID == "" {
		m.ThreadID = "t-" + m.ID
	}
	if m.ReceivedAt.IsZero() {
		m.ReceivedAt = noon
	}
	d.mail[m.ID] = m
	return m
}

func cake() *postroom.Message {
	return &postroom.Message{Subject: "Re: Cake on Friday", From: postroom.Address{Name: "Ben", Email: "Ben@example.com"},
		To: []postroom.Address{{Email: owner}}, MessageID: "1@example.com"}
}

func action(id string, m *postroom.Message, text string) postroom.Action {
	return postroom.Action{ID: id, AccountID: "ada", MessageID: m.ID, Type: postroom.AddNote,
		Parameters: postroom.Parameters{"note": text}}
}

// handle does what the action's job does before it completes.
func (d *desk) handle(a postroom.Action) (postroom.Commit, error) {
	outcome, err := notes.Kind(func() *notes.Vault { return d.vault }).Handler(d.Context(), d.run(a.ID), a)
	return outcome.Commit, err
}

func (d *desk) commit(commit postroom.Commit) {
	d.Helper()
	require.NoError(d, d.db.Write(d.Context(), func(ctx context.Context, tx queue.Tx) error { return commit(ctx, tx) }))
}

// note carries out an action, and returns the path of its note.
func (d *desk) note(id string, m *postroom.Message, text string) string {
	d.Helper()
	commit, err := d.handle(action(id, m, text))
	require.NoError(d, err)
	d.commit(commit)
	n, err := d.store.Note(d.Context(), id)
	require.NoError(d, err)
	return n.Path
}

func (d *desk) undo(id string, m *postroom.Message, text string) error {
	d.Helper()
	commit, err := notes.Kind(func() *notes.Vault { return d.vault }).Undo(d.Context(), d.run("undo "+id),
		action(id, m, text))
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

// files lists all files of the vault.
func (d *desk) files() (names []string) {
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
