package archive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"

	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/archive/folder"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/internal/corpora"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func TestEachMessageIsKeptByteForByte(t *testing.T) {
	eachWorld(t, func(w *world) {
		odd := []string{letter(1), letter(2),
			"X: \x00\xff\r\n\r\n\x80body without an end", "Subject: bare\n\nFrom me\n>From you"}
		ids := w.deliver(odd...)
		status := w.keep()
		require.Equal(w, len(odd), status.Messages)
		require.True(w, status.Complete)
		require.Zero(w, status.Unverified)
		texts, faults := w.raws()
		require.Empty(w, faults)
		for i, id := range ids {
			require.Equal(w, odd[i], texts[id])
		}
		require.Equal(w, "1@example.org", w.entry(ids[0]).RFCMessageID)
		for _, path := range w.objects("") {
			info, err := os.Stat(path)
			require.NoError(w, err)
			require.Equal(w, os.FileMode(0o600), info.Mode().Perm(), path)
			content, err := os.ReadFile(path)
			require.NoError(w, err)
			require.Equal(w, status.Encrypted, bytes.HasPrefix(content, []byte("age-encryption.org/")), path)
		}
	})
}

func TestOddMailOfTheCorpusIsKeptByteForByte(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	var paths []string
	_ = filepath.WalkDir(corpora.Path("01-mime-parse"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".eml") {
			paths = append(paths, path)
		}
		return err
	})
	if len(paths) == 0 {
		t.Skip("there is no mail in " + corpora.Path("01-mime-parse"))
	}
	texts := map[string]bool{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		if len(strings.TrimSpace(string(raw))) == 0 {
			continue
		}
		w.deliver(string(raw))
		texts[string(raw)] = true
	}
	w.keep()
	kept, faults := w.raws()
	require.Empty(t, faults)
	for _, text := range kept {
		delete(texts, text)
	}
	require.Empty(t, texts)
}

func TestASecondRunReadsOnlyWhatIsNew(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.deliver(letter(1), letter(2), letter(3))
		w.keep()
		before := len(w.server.Calls())
		w.keep()
		calls := w.server.Calls()[before:]
		require.Len(w, calls, 1, "one look at the history")
		require.Equal(w, gmailtest.Method("history.list"), calls[0].Method)

		id := w.deliver(letter(4))[0]
		before = w.server.Counts()["messages.get"]
		require.Equal(w, 4, w.keep().Messages)
		require.Equal(w, 1, w.server.Counts()["messages.get"]-before)
		require.Equal(w, archive.Present, w.entry(id).State)
	})
}

func TestChangesOfLabelsAndDeletionsAreKept(t *testing.T) {
	eachWorld(t, func(w *world) {
		ids := w.deliver(letter(1), letter(2), letter(3))
		w.keep()
		person := w.server.Person()
		require.NoError(w, person.Label(w.Context(), "Work/Zoe", ids[0]))
		require.NoError(w, person.Trash(w.Context(), ids[1]))
		require.NoError(w, person.Delete(w.Context(), ids[2]))
		gets := w.server.Counts()["messages.get"]
		status := w.keep()
		require.Equal(w, gets, w.server.Counts()["messages.get"], "no message is read for a change of labels")
		require.Equal(w, 1, status.Gone)
		require.Contains(w, names(w.entry(ids[0])), "Work/Zoe")
		require.Equal(w, archive.Trashed, w.entry(ids[1]).State)
		require.Equal(w, archive.Gone, w.entry(ids[2]).State)
		texts, _ := w.raws()
		require.Equal(w, letter(3), texts[ids[2]])
	})
}

func names(e archive.Entry) (names []string) {
	for _, l := range e.Labels {
		names = append(names, l.Name)
	}
	return names
}

func TestALostHistoryIsFollowedByAListingThatReadsOnlyWhatIsNew(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	w.deliver(letter(1), letter(2))
	w.keep()
	w.deliver(letter(3))
	require.NoError(t, w.server.ForgetHistory(t.Context()))
	gets := w.server.Counts()["messages.get"]
	require.Equal(t, 3, w.keep().Messages)
	require.Equal(t, gets+1, w.server.Counts()["messages.get"])
}

func TestEqualMessagesShareAnObjectWithinAMailboxAndNeverAcross(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	ids := w.deliver(letter(1), letter(1))
	require.NotEqual(t, ids[0], ids[1])
	require.Equal(t, 2, w.keep().Messages)
	require.Len(t, w.objects("/raw/"), 1)

	w.changeMailbox("eve@example.com")
	w.deliver(letter(1))
	require.Equal(t, 1, w.keep().Messages)
	require.Len(t, w.objects("/raw/"), 2)
}

// A process that dies at any write to the bucket or the database loses nothing, and doubles nothing.
func TestARunThatDiesAnywhereGoesOn(t *testing.T) {
	for at := 1; ; at++ {
		w := newWorld(t, dbtest.SQLite(t))
		ids := w.deliver(letter(1), letter(2), letter(3))
		calls, sync := 0, w.cfg.Sync
		w.cfg.Sync = func(key string) error {
			if calls++; calls == at {
				return errors.New("the disk is full")
			}
			return sync(key)
		}
		w.open()
		require.Equal(t, 3, w.keep().Messages)
		texts, faults := w.raws()
		require.Empty(t, faults)
		require.Len(t, texts, len(ids))
		require.Len(t, w.objects("/raw/"), 3)
		n, err := w.archive.VerifyChain(t.Context(), w.account)
		require.NoError(t, err)
		require.Equal(t, len(w.objects("/manifest/")), n)
		require.LessOrEqual(t, w.server.Counts()["messages.get"], 6, "at write %d", at)
		if at > calls {
			require.Greater(t, at, 4)
			return
		}
	}
}

// A manifest that was written before the tables were is found by the next run.
func TestAManifestThatTheTablesLackIsFound(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.deliver(letter(1), letter(2))
		w.keep()
		require.NoError(w, w.archive.Forget(w.Context(), w.account))
		gets := w.server.Counts()["messages.get"]
		require.Equal(w, 2, w.keep().Messages)
		require.Equal(w, gets, w.server.Counts()["messages.get"], "the bucket knows both")
	})
}

func TestTheBucketAloneIsEnoughToRebuildTheIndex(t *testing.T) {
	eachWorld(t, func(w *world) {
		ids := w.deliver(letter(1), letter(2), letter(3))
		w.keep()
		require.NoError(w, w.server.Person().Label(w.Context(), "Work", ids[0]))
		require.NoError(w, w.server.Person().Delete(w.Context(), ids[1]))
		before := w.keep()
		entries := map[string]archive.Entry{}
		for _, id := range ids {
			entries[id] = w.entry(id)
		}

		fresh := dbtest.SQLite(w.T)
		require.NoError(w, archive.Migrate(w.Context(), fresh))
		w.cfg = archive.Config{DB: fresh, Bucket: w.openFolder().Bucket, Keys: w.cfg.Keys}
		w.open()
		accounts, err := w.archive.Accounts(w.Context())
		require.NoError(w, err)
		require.Equal(w, []string{w.account}, accounts)
		require.NoError(w, w.archive.Rebuild(w.Context(), w.account))
		after := w.status()
		require.Equal(w, before.Head, after.Head)
		require.Equal(w, before.Email, after.Email)
		require.Equal(w, before.Messages, after.Unverified)
		for id, e := range entries {
			require.Equal(w, e, w.entry(id))
		}
		require.NoError(w, w.archive.Rebuild(w.Context(), w.account), "again")
		require.Equal(w, after, w.status())
	})
}

func TestAMessageThatCannotBeReadHoldsUpNothingAndIsTriedAgain(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	ids := w.deliver(letter(1), letter(2))
	w.server.Fault(gmailtest.Fault{Method: "messages.get", Path: ids[0], Times: 2, Status: 200, Body: `{"id":"x","raw":"%%"}`})
	status := w.keep()
	require.Equal(t, 1, status.Unreadable)
	require.Equal(t, 1, status.Messages)
	w.server.ClearFaults()
	status = w.keep()
	require.Equal(t, 2, status.Messages)
	require.Zero(t, status.Unreadable)
}

// records are decisions with a cursor that counts.
type records []string

func (r records) After(_ context.Context, _, cursor string, most int) (list []json.RawMessage, next string, err error) {
	n, _ := strconv.Atoi(cursor)
	for ; n < len(r) && len(list) < most; n++ {
		list = append(list, json.RawMessage(r[n]))
	}
	return list, strconv.Itoa(n), nil
}

func TestRecordsAreKeptOnce(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	var list records
	for i := range 2500 {
		list = append(list, fmt.Sprintf(`{"action":%d}`, i))
	}
	w.cfg.Records = list
	w.open()
	w.deliver(letter(1))
	w.keep()
	list = append(list, `{"action":"last"}`)
	w.cfg.Records = list
	w.open()
	w.keep()
	require.NoError(t, w.archive.Rebuild(t.Context(), w.account))
	w.keep()
	require.Equal(t, 2501, w.countRecords())
}

func (w *world) countRecords() (n int) {
	w.Helper()
	for _, path := range w.objects("/manifest/") {
		key, err := filepath.Rel(w.dir, path)
		require.NoError(w, err)
		text, err := archive.ReadObject(w.Context(), w.archive, filepath.ToSlash(key))
		require.NoError(w, err)
		n += strings.Count(string(text), `{"record":`)
	}
	return n
}

// crowd is a mailbox of many messages, made as they are read.
type crowd int

func (c crowd) Name() string { return "crowd" }

func (c crowd) Messages() iter.Seq2[mailbox.Message, error] {
	return func(yield func(mailbox.Message, error) bool) {
		for i := range int(c) {
			m := mailbox.Message{Position: i + 1, Labeled: true, Labels: []string{"Inbox"},
				Received: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Minute),
				Raw:      []byte(letter(i) + strings.Repeat("Some words that fill the page. ", 60))}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// POSTROOM_TEST_ARCHIVE is the number of messages; 100000 takes some minutes.
func TestALargeMailboxTakesLittleMemoryAndASecondRunOneRequest(t *testing.T) {
	n := 300
	if text := os.Getenv("POSTROOM_TEST_ARCHIVE"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	w := newWorld(t, dbtest.SQLite(t))
	_, err := w.server.Import(t.Context(), crowd(n), nil)
	require.NoError(t, err)
	peak := watchMemory(t)
	began := time.Now()
	require.Equal(t, n, w.keep().Messages)
	t.Logf("%d messages: %v, %d requests, heap at most %d MB", n, time.Since(began).Round(time.Millisecond),
		w.requests(), peak()>>20)
	before := w.requests()
	w.keep()
	require.Equal(t, before+1, w.requests())

	began = time.Now()
	job := w.run(archive.NewVerifyJob(w.account, true))
	require.Equal(t, queue.StateCompleted, job.State)
	require.Zero(t, w.status().Faults)
	t.Logf("verified in %v, heap at most %d MB", time.Since(began).Round(time.Millisecond), peak()>>20)
	require.Less(t, peak(), uint64(200<<20))
}

// requests counts the calls that Gmail got.
func (w *world) requests() (n int) {
	for _, calls := range w.server.Counts() {
		n += calls
	}
	return n
}

// watchMemory returns a function that returns the largest heap in use since, the fake Gmail's included.
func watchMemory(t *testing.T) (peak func() uint64) {
	stop, highest := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
			select {
			case highest <- most:
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop) })
	return func() uint64 { return <-highest }
}

func TestAFolderSyncs(t *testing.T) {
	_, err := folder.Open("relative")
	require.ErrorContains(t, err, "absolute")
	for address, want := range map[string]string{"file:///srv/mail": "/srv/mail", "file:///srv/mail/": "/srv/mail"} {
		path, err := folder.Path(address)
		require.NoError(t, err)
		require.Equal(t, want, path)
	}
	for _, address := range []string{"", "/srv", "gs://x", "file://host/x", "file:///x?y=1", "file:relative"} {
		_, err := folder.Path(address)
		require.Error(t, err, address)
	}
	dir := filepath.Join(t.TempDir(), "new", "bucket")
	bucket, err := folder.Open(dir)
	require.NoError(t, err)
	defer bucket.Close()
	require.Error(t, bucket.Sync("a/b"), "there is no such object")
	require.NoError(t, bucket.WriteAll(t.Context(), "a/b", []byte("x"), &blob.WriterOptions{IfNotExist: true}))
	require.NoError(t, bucket.Sync("a/b"))
}
