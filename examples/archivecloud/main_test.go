package main

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/archive/folder"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// each runs a test on a bucket of each cloud.
func each(t *testing.T, test func(t *testing.T, address string, objects *store)) {
	t.Helper()
	for name, cloud := range map[string]func(*testing.T) (string, *store){"s3": newS3, "gcs": newGCS} {
		t.Run(name, func(t *testing.T) {
			address, objects := cloud(t)
			test(t, address, objects)
		})
	}
}

// A mailbox archives ten letters into a bucket.
type mailbox struct {
	*testing.T

	server *gmailtest.Server
	db     queue.DB
	queue  *queue.Queue
	id     string
	kept   *archive.Archive
	read   int // how many messages were read whole
}

func newMailbox(t *testing.T, bucket *blob.Bucket, sync func(string) error) *mailbox {
	t.Helper()
	m := &mailbox{T: t, server: gmailtest.NewServer(t)}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "mail.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	m.db = db
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate, archive.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	store, err := mailstore.New(mailstore.Config{DB: db})
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		m.id, err = store.EnsureAccount(ctx, tx, m.server.Email(), time.Time{})
		return err
	}))
	m.queue, err = queue.New(db, nil)
	require.NoError(t, err)
	client, err := gmailapi.NewClient(gmailapi.ClientConfig{Endpoint: m.server.URL(),
		Limits: gmailapi.Limits{Unlimited: true}, HTTPClient: &http.Client{Transport: m}})
	require.NoError(t, err)
	m.kept, err = archive.New(archive.Config{DB: db, Bucket: bucket, Sync: sync, Store: store,
		Clients: gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return client, nil })})
	require.NoError(t, err)
	m.deliver(10)
	m.run()
	return m
}

// RoundTrip implements [http.RoundTripper], and counts what is read.
func (m *mailbox) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("format") == "raw" {
		m.read++
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer test")
	return http.DefaultTransport.RoundTrip(r)
}

func (m *mailbox) deliver(n int) {
	m.Helper()
	for i := range n {
		_, err := m.server.Deliver(m.Context(), []byte("From: ann@example.com\r\nSubject: letter\r\n\r\nnumber "+
			strconv.Itoa(i)+" at "+time.Now().String()+"\r\n"))
		require.NoError(m, err)
	}
}

// run archives what is new.
func (m *mailbox) run() {
	m.Helper()
	d, err := queue.NewDispatcher(m.queue, nil)
	require.NoError(m, err)
	require.NoError(m, m.kept.Register(d))
	_, err = m.queue.Enqueue(m.Context(), archive.NewRunJob(m.id))
	require.NoError(m, err)
	require.NoError(m, d.RunUntilIdle(m.Context()))
	status, err := m.kept.Status(m.Context(), m.id)
	require.NoError(m, err)
	require.Empty(m, status.Failure)
}

// archived returns a folder with an archive.
func archived(t *testing.T) (dir string, m *mailbox) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "archive")
	bucket, err := folder.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	return dir, newMailbox(t, bucket.Bucket, bucket.Sync)
}

// command runs the program, and returns what it prints.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, &out)
	return out.String(), err
}

func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "v1"), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(content)
		return err
	}))
	return files
}

// An archive in a folder is copied to a cloud, once, verified there by the bucket alone, and comes back.
func TestAnArchiveIsCopiedToACloudAndBack(t *testing.T) {
	each(t, func(t *testing.T, address string, objects *store) {
		dir, m := archived(t)
		said, err := command(t, "push", dir, address)
		require.NoError(t, err)
		files := filesOf(t, dir)
		require.Contains(t, said, strconv.Itoa(len(files))+" objects copied, 0 were there")
		said, err = command(t, "push", dir, address)
		require.NoError(t, err)
		require.Contains(t, said, "0 objects copied, "+strconv.Itoa(len(files))+" were there")
		said, err = command(t, "verify", address)
		require.NoError(t, err)
		require.Contains(t, said, "10 messages are as they were archived, 0 are not")

		m.deliver(1)
		m.run()
		said, err = command(t, "push", dir, address)
		require.NoError(t, err)
		require.Contains(t, said, "2 objects copied, ", "the letter, and the manifest that names it")

		back := filepath.Join(t.TempDir(), "back")
		_, err = command(t, "pull", address, back)
		require.NoError(t, err)
		require.Equal(t, filesOf(t, dir), filesOf(t, back))
		_, err = command(t, "pull", address, back)
		require.ErrorContains(t, err, "is not empty")

		i := slices.IndexFunc(slices.Sorted(maps.Keys(objects.objects)), func(key string) bool {
			return strings.Contains(key, "/raw/")
		})
		damaged := slices.Sorted(maps.Keys(objects.objects))[i]
		objects.put(damaged, []byte("x"), false)
		_, err = command(t, "verify", address)
		require.ErrorContains(t, err, "1 messages are damaged or missing")
		require.True(t, objects.remove(damaged))
		_, err = command(t, "verify", address)
		require.ErrorContains(t, err, "1 messages are damaged or missing")
	})
}

// What is there is not replaced, whoever has put it there, also between the listing and the copy.
func TestNothingInACloudIsReplaced(t *testing.T) {
	each(t, func(t *testing.T, address string, objects *store) {
		bucket, err := blob.OpenBucket(t.Context(), address)
		require.NoError(t, err)
		defer bucket.Close()
		absent := &blob.WriterOptions{IfNotExist: true}
		require.NoError(t, bucket.WriteAll(t.Context(), "a/b", []byte("one"), absent))
		err = bucket.WriteAll(t.Context(), "a/b", []byte("two"), absent)
		require.Equal(t, gcerrors.FailedPrecondition, gcerrors.Code(err), err)
		content, err := bucket.ReadAll(t.Context(), "a/b")
		require.NoError(t, err)
		require.Equal(t, "one", string(content))
		_, err = bucket.ReadAll(t.Context(), "a/c")
		require.Equal(t, gcerrors.NotFound, gcerrors.Code(err))
		require.NoError(t, bucket.Delete(t.Context(), "a/b"))
		_, found := objects.get("a/b")
		require.False(t, found)
	})
}

// A host archives into a cloud without a folder, and a second run reads what is new alone.
func TestAHostArchivesIntoACloud(t *testing.T) {
	each(t, func(t *testing.T, address string, _ *store) {
		bucket, err := blob.OpenBucket(t.Context(), address)
		require.NoError(t, err)
		defer bucket.Close()
		m := newMailbox(t, bucket, nil)
		require.Equal(t, 10, m.read)
		m.deliver(2)
		m.run()
		require.Equal(t, 12, m.read)
		checked, faults, err := m.kept.Verify(t.Context(), m.id, true)
		require.NoError(t, err)
		require.Equal(t, []int{12, 0}, []int{checked, faults})
		said, err := command(t, "verify", address)
		require.NoError(t, err)
		require.Contains(t, said, "12 messages are as they were archived")
	})
}

func TestWhatIsTypedWrongIsSaid(t *testing.T) {
	for _, args := range [][]string{nil, {"push"}, {"verify", "a", "b"}, {"drop", "s3://x"}} {
		_, err := command(t, args...)
		require.ErrorContains(t, err, "usage:")
	}
	_, err := command(t, "push", filepath.Join(t.TempDir(), "none"), "s3://x")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = command(t, "verify", "ftp://x")
	require.Error(t, err)
	address, _ := newGCS(t)
	_, err = command(t, "verify", address)
	require.ErrorContains(t, err, "holds no archive")
	t.Setenv("POSTROOM_ARCHIVE_KEY", "sesame")
	_, err = command(t, "verify", address)
	require.ErrorContains(t, err, "AGE-SECRET-KEY-1")
}
