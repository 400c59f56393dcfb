package archive_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// keepOne archives one message, as a deletion does.
func (w *world) keepOne(id string) error {
	w.Helper()
	account, err := w.store.Account(w.Context(), w.account)
	require.NoError(w, err)
	return w.archive.Keep(w.Context(), account, w.client, id)
}

// dieAfterAManifest archives a message by a process that dies when the manifest is in the bucket and not in the tables.
func (w *world) dieAfterAManifest(id string) {
	w.Helper()
	sync := w.cfg.Sync
	w.cfg.Sync = func(key string) error {
		if strings.Contains(key, "/manifest/") {
			return errors.New("no power")
		}
		return sync(key)
	}
	w.open()
	require.ErrorContains(w, w.keepOne(id), "no power")
	w.cfg.Sync = sync
	w.open()
}

// Whatever has changed since, such as the month or the key, a number is given once.
func TestAManifestThatTheTablesLackIsFollowedByTheNext(t *testing.T) {
	for name, later := range map[string]func(w *world){
		"a month later": func(w *world) { w.cfg.Now = func() time.Time { return time.Now().AddDate(0, 1, 0) } },
		"with a key":    func(w *world) { w.encrypt() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, dbtest.SQLite(t))
			ids := w.deliver(letter(1), letter(2), letter(3))
			require.NoError(t, w.keepOne(ids[0]))
			w.dieAfterAManifest(ids[1])
			later(w)
			w.open()
			require.NoError(t, w.keepOne(ids[2]))
			require.Equal(t, 3, w.status().Messages)
			require.Equal(t, int64(3), w.status().Number)
			require.Len(t, w.objects("/manifest/"), 3)
			_, err := w.archive.VerifyChain(t.Context(), w.account)
			require.NoError(t, err)
			require.NoError(t, w.archive.Rebuild(t.Context(), w.account))
			require.Equal(t, 3, w.status().Messages)
		})
	}
}

func TestARebuildOfABrokenChainLeavesTheIndex(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	for _, id := range w.deliver(letter(1), letter(2), letter(3)) {
		require.NoError(t, w.keepOne(id))
	}
	before := w.status()
	w.rewrite(w.objects("/manifest/")[1], func(c []byte) []byte { return c[:len(c)-9] })
	require.ErrorIs(t, w.archive.Rebuild(t.Context(), w.account), archive.ErrChain)
	require.Equal(t, before, w.status())
}

// A manifest that was cut when the power was lost is replaced, if it is the last and the tables never had it.
func TestAManifestThatWasCutIsReplaced(t *testing.T) {
	for name, cut := range map[string]func([]byte) []byte{
		"half":  func(c []byte) []byte { return c[:len(c)/2] },
		"empty": func([]byte) []byte { return nil },
		"zeros": func(c []byte) []byte { return make([]byte, len(c)) },
	} {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", encrypted), func(t *testing.T) {
				w := newWorld(t, dbtest.SQLite(t))
				if encrypted {
					w.encrypt()
				}
				ids := w.deliver(letter(1), letter(2), letter(3))
				require.NoError(t, w.keepOne(ids[0]))
				w.dieAfterAManifest(ids[1])
				w.rewrite(w.objects("/manifest/")[1], cut)
				require.Error(t, w.archive.Rebuild(t.Context(), w.account))
				require.Equal(t, 1, w.status().Messages, "what is before it")

				require.NoError(t, w.keepOne(ids[2]))
				require.Equal(t, 2, w.status().Messages)
				require.Len(t, w.objects("/manifest/"), 2)
				require.Equal(t, 3, w.keep().Messages)
				_, err := w.archive.VerifyChain(t.Context(), w.account)
				require.NoError(t, err)
				require.NoError(t, w.archive.Rebuild(t.Context(), w.account))
			})
		}
	}
}

func TestARunGoesOnAfterAManifestThatWasCut(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	ids := w.deliver(letter(1), letter(2), letter(3))
	require.NoError(t, w.keepOne(ids[0]))
	w.dieAfterAManifest(ids[1])
	w.rewrite(w.objects("/manifest/")[1], func([]byte) []byte { return nil })
	require.Equal(t, 3, w.keep().Messages)
	_, err := w.archive.VerifyChain(t.Context(), w.account)
	require.NoError(t, err)
}

// What was not cut by the last write stays: one in the middle, one that the tables know, and one of another key.
func TestAManifestThatCannotBeReadIsNotReplacedOtherwise(t *testing.T) {
	for name, harm := range map[string]func(w *world){
		"in the middle": func(w *world) {
			w.rewrite(w.objects("/manifest/")[1], func([]byte) []byte { return nil })
			require.NoError(w, w.archive.Forget(w.Context(), w.account))
		},
		"of another key": func(w *world) {
			require.NoError(w, w.archive.Forget(w.Context(), w.account))
			w.cfg.Keys = nil
			w.encrypt()
		},
		"a gap": func(w *world) {
			require.NoError(w, os.Remove(w.objects("/manifest/")[1]))
			require.NoError(w, w.archive.Forget(w.Context(), w.account))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, dbtest.SQLite(t))
			w.encrypt()
			for _, id := range w.deliver(letter(1), letter(2), letter(3)) {
				require.NoError(t, w.keepOne(id))
			}
			harm(w)
			before := w.contents()
			job := w.run(archive.NewRunJob(w.account))
			require.Equal(t, queue.StateFailed, job.State)
			require.Equal(t, before, w.contents())
		})
	}
}

// contents returns the content of each manifest, by its path.
func (w *world) contents() map[string]string {
	w.Helper()
	found := map[string]string{}
	for _, path := range w.objects("/manifest/") {
		content, err := os.ReadFile(path)
		require.NoError(w, err)
		found[path] = string(content)
	}
	return found
}

// The tables name only what survives a loss of power.
func TestAManifestThatIsFoundIsSynced(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	ids := w.deliver(letter(1), letter(2))
	require.NoError(t, w.keepOne(ids[0]))
	w.dieAfterAManifest(ids[1])
	w.cfg.Sync = func(key string) error {
		if strings.HasSuffix(key, "/manifest/0000000002.jsonl.zst") {
			return errors.New("no power")
		}
		return nil
	}
	w.open()
	require.ErrorContains(t, w.keepOne(ids[0]), "no power")
	require.Equal(t, int64(1), w.status().Number)
}
