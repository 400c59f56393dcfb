package archive_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/archive/folder"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A world is a Gmail, a database with one account, and an archive in a folder.
type world struct {
	*testing.T
	server  *gmailtest.Server
	wire    *http.Transport
	client  *gmailapi.Client
	db      queue.DB
	store   *mailstore.Store
	queue   *queue.Queue
	account string
	dir     string
	cfg     archive.Config
	archive *archive.Archive
}

// eachWorld runs fn on every database, with and without encryption.
func eachWorld(t *testing.T, fn func(w *world)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		t.Run("plain", func(t *testing.T) { fn(newWorld(t, db)) })
	})
	t.Run("encrypted", func(t *testing.T) {
		w := newWorld(t, dbtest.SQLite(t))
		w.encrypt()
		fn(w)
	})
}

func newWorld(t *testing.T, db queue.DB) *world {
	t.Helper()
	w := &world{T: t, db: db, server: gmailtest.NewServer(t), dir: filepath.Join(t.TempDir(), "bucket")}
	w.wire = http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(w.wire.CloseIdleConnections)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate, archive.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	var err error
	w.store, err = mailstore.New(mailstore.Config{DB: db})
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		w.account, err = w.store.EnsureAccount(ctx, tx, w.server.Email(), time.Time{})
		return err
	}))
	w.queue, err = queue.New(db, &queue.Config{
		Retry: queue.RetryPolicy{Base: time.Millisecond, Factor: 1, Cap: time.Millisecond}})
	require.NoError(t, err)
	w.client = w.newClient(gmailapi.Limits{Unlimited: true})
	bucket := w.openFolder()
	w.cfg = archive.Config{DB: db, Bucket: bucket.Bucket, Sync: bucket.Sync, Store: w.store,
		Clients: gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return w.client, nil })}
	w.open()
	return w
}

func (w *world) newClient(limits gmailapi.Limits) *gmailapi.Client {
	w.Helper()
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "test"})
	return w.clientOf(&http.Client{Transport: &oauth2.Transport{Source: token, Base: w.wire}}, limits)
}

func (w *world) clientOf(carrier *http.Client, limits gmailapi.Limits) *gmailapi.Client {
	w.Helper()
	c, err := gmailapi.NewClient(gmailapi.ClientConfig{Endpoint: w.server.URL(), Limits: limits, HTTPClient: carrier})
	require.NoError(w, err)
	return c
}

// changeMailbox makes another mailbox, and an account, those of the world.
func (w *world) changeMailbox(email string) {
	w.Helper()
	_, err := w.server.Account(w.Context(), email)
	require.NoError(w, err)
	carrier, err := w.server.HTTPClient(w.Context(), email)
	require.NoError(w, err)
	w.client = w.clientOf(carrier, gmailapi.Limits{Unlimited: true})
	require.NoError(w, w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		w.account, err = w.store.EnsureAccount(ctx, tx, email, time.Time{})
		return err
	}))
}

func (w *world) openFolder() *folder.Bucket {
	w.Helper()
	bucket, err := folder.Open(w.dir)
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, bucket.Close()) })
	return bucket
}

// open makes the archive of the configuration.
func (w *world) open() {
	w.Helper()
	var err error
	w.archive, err = archive.New(w.cfg)
	require.NoError(w, err)
}

func (w *world) encrypt() {
	w.Helper()
	key, err := age.GenerateX25519Identity()
	require.NoError(w, err)
	w.cfg.Keys = append([]*age.X25519Identity{key}, w.cfg.Keys...)
	w.open()
}

// run enqueues a job, runs everything until nothing is left to do, and returns the job.
func (w *world) run(job queue.NewJob) *queue.Job {
	w.Helper()
	enqueued, err := w.queue.Enqueue(w.Context(), job)
	require.NoError(w, err)
	d, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond, Workers: 2})
	require.NoError(w, err)
	require.NoError(w, w.archive.Register(d))
	ctx, cancel := context.WithTimeout(w.Context(), 40*time.Minute) // for 100,000 messages
	defer cancel()
	require.NoError(w, d.RunUntilIdle(ctx))
	require.NoError(w, ctx.Err(), "still not idle")
	done, err := w.queue.Job(w.Context(), enqueued.ID)
	require.NoError(w, err)
	return done
}

// keep runs the archive, which succeeds.
func (w *world) keep() archive.Status {
	w.Helper()
	job := w.run(archive.NewRunJob(w.account))
	require.Equal(w, queue.StateCompleted, job.State, job.LastError)
	return w.status()
}

func (w *world) status() archive.Status {
	w.Helper()
	status, err := w.archive.Status(w.Context(), w.account)
	require.NoError(w, err)
	return status
}

// deliver puts messages into the mailbox as they are, and returns Gmail's ids of them.
func (w *world) deliver(raw ...string) (ids []string) {
	w.Helper()
	for _, text := range raw {
		m, err := w.client.Insert(w.Context(), []byte(text), "INBOX", "UNREAD")
		require.NoError(w, err)
		ids = append(ids, m.ID)
	}
	return ids
}

// deliverAt puts a message into the mailbox that was received at an instant, which its field Date says.
func (w *world) deliverAt(at, raw string) (id string) {
	w.Helper()
	received, err := time.Parse(time.RFC3339, at)
	require.NoError(w, err)
	raw = strings.Replace(raw, "Sat, 07 Mar 2026 12:00:00 +0000", received.Format(time.RFC1123Z), 1)
	m, err := w.client.Import(w.Context(), []byte(raw), "INBOX")
	require.NoError(w, err)
	return m.ID
}

func letter(n int) string {
	return fmt.Sprintf("From: Zoe <zoe@example.org>\r\nTo: you@example.com\r\nSubject: Letter %d\r\n"+
		"Message-ID: <%d@example.org>\r\nDate: Sat, 07 Mar 2026 12:00:00 +0000\r\n\r\nGood day %d.\r\nFrom here.\r\n", n, n, n)
}

// raws returns the archived messages by Gmail's ids, and the error of each that is not right.
func (w *world) raws() (texts map[string]string, faults map[string]error) {
	w.Helper()
	texts, faults = map[string]string{}, map[string]error{}
	for e, err := range w.archive.Entries(w.Context(), w.account, "", archive.Selection{}) {
		require.NoError(w, err)
		raw, err := w.archive.Raw(w.Context(), w.account, e)
		if err != nil {
			faults[e.MessageID] = err
			continue
		}
		texts[e.MessageID] = string(raw)
	}
	return texts, faults
}

// entry returns the entry of a message.
func (w *world) entry(id string) archive.Entry {
	w.Helper()
	e, err := w.archive.Message(w.Context(), w.account, id)
	require.NoError(w, err)
	return e
}

// objects returns the paths of the files in the bucket that contain a text.
func (w *world) objects(part string) (paths []string) {
	w.Helper()
	require.NoError(w, filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(filepath.ToSlash(path), part) {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

// object returns the file of a message.
func (w *world) object(id string) string {
	w.Helper()
	paths := w.objects(w.entry(id).SHA256)
	require.Len(w, paths, 1)
	return paths[0]
}

func (w *world) rewrite(path string, change func(content []byte) []byte) {
	w.Helper()
	content, err := os.ReadFile(path)
	require.NoError(w, err)
	require.NoError(w, os.WriteFile(path, change(content), 0o600))
}

// mailbox returns what Gmail has, by the text of the messages.
func (w *world) mailbox() map[string][]gmailtest.Message {
	w.Helper()
	messages, err := w.server.Snapshot(w.Context())
	require.NoError(w, err)
	found := map[string][]gmailtest.Message{}
	for _, m := range messages {
		raw, err := w.client.GetRaw(w.Context(), m.ID)
		require.NoError(w, err)
		text, err := raw.Bytes()
		require.NoError(w, err)
		found[string(text)] = append(found[string(text)], m)
	}
	return found
}

func result[T any](w *world, job *queue.Job) (value T) {
	w.Helper()
	require.NoError(w, json.Unmarshal(job.Result, &value))
	return value
}
