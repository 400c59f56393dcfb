package archive_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// bomb is compressed content that is large when it is not.
func bomb(t testing.TB, size int) []byte {
	var out bytes.Buffer
	pack, err := zstd.NewWriter(&out, zstd.WithWindowSize(1<<20))
	require.NoError(t, err)
	zeros := make([]byte, 1<<20)
	for range size >> 20 {
		_, err := pack.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, pack.Close())
	return out.Bytes()
}

func TestEveryFaultInTheBucketIsFoundAndNamed(t *testing.T) {
	eachWorld(t, func(w *world) {
		harm := map[string]struct {
			how  func(path string)
			want error
		}{
			"missing": {func(path string) { require.NoError(w, os.Remove(path)) }, archive.ErrMissing},
			"truncated": {func(path string) {
				w.rewrite(path, func(c []byte) []byte { return c[:len(c)/2] })
			}, archive.ErrUnreadable},
			"empty": {func(path string) { w.rewrite(path, func([]byte) []byte { return nil }) }, nil},
			"one bit": {func(path string) {
				w.rewrite(path, func(c []byte) []byte { c[len(c)-5] ^= 1; return c })
			}, nil},
			"renamed": {func(path string) {
				require.NoError(w, os.Rename(path, filepath.Join(filepath.Dir(path), "old-"+filepath.Base(path))))
			}, archive.ErrMissing},
			"another message": {func(path string) {
				other, err := archive.Seal(w.archive, []byte(letter(99)))
				require.NoError(w, err)
				w.rewrite(path, func([]byte) []byte { return other })
			}, nil},
			"bomb": {func(path string) {
				large, err := archive.Seal(w.archive, make([]byte, 64<<20))
				require.NoError(w, err)
				require.Less(w, len(large), 64<<10)
				w.rewrite(path, func([]byte) []byte { return large })
			}, archive.ErrTooLarge},
			"large": {func(path string) {
				w.rewrite(path, func([]byte) []byte { return make([]byte, 1<<20) })
			}, archive.ErrTooLarge},
			"garbage": {func(path string) {
				w.rewrite(path, func([]byte) []byte { return []byte("garbage") })
			}, archive.ErrUnreadable},
		}
		ids := map[string]string{}
		n := 0
		for name := range harm {
			ids[name] = w.deliver(letter(n))[0]
			n++
		}
		sound := w.deliver(letter(n))[0]
		w.keep()
		for name, h := range harm {
			h.how(w.object(ids[name]))
		}
		job := w.run(archive.NewVerifyJob(w.account, true))
		require.Equal(w, queue.StateCompleted, job.State, job.LastError)
		require.Equal(w, map[string]int{"checked": n + 1, "faults": n}, result[map[string]int](w, job))
		status := w.status()
		require.Equal(w, n, status.Faults)
		require.Empty(w, status.ChainFault)
		require.False(w, status.Sound())
		faults, err := w.archive.Faults(w.Context(), w.account, 100)
		require.NoError(w, err)
		found := map[string]archive.Fault{}
		for _, f := range faults {
			found[f.MessageID] = f
		}
		require.NotContains(w, found, sound)
		for name, h := range harm {
			require.Contains(w, found, ids[name], name)
			require.Contains(w, found[ids[name]].Object, w.entry(ids[name]).SHA256)
			_, err := w.archive.Raw(w.Context(), w.account, w.entry(ids[name]))
			require.Error(w, err, name)
			if h.want != nil {
				require.ErrorIs(w, err, h.want, name)
			}
		}

		left, err := w.archive.FindLeftovers(w.Context(), w.account)
		require.NoError(w, err)
		require.Equal(w, 1, left.Foreign)
		require.Contains(w, left.Examples[0], "old-")
		require.Zero(w, left.Orphans)

		w.keep()
		require.Zero(w, w.status().Faults, "Gmail still has the messages, and a run writes them again")
		_, broken := w.raws()
		require.Empty(w, broken)
	})
}

func TestABrokenChainIsFound(t *testing.T) {
	for name, harm := range map[string]func(w *world, manifests []string){
		"the last is removed": func(w *world, m []string) { require.NoError(w, os.Remove(m[len(m)-1])) },
		"one is removed":      func(w *world, m []string) { require.NoError(w, os.Remove(m[0])) },
		"one is cut":          func(w *world, m []string) { w.rewrite(m[1], func(c []byte) []byte { return c[:len(c)-9] }) },
		"two are exchanged": func(w *world, m []string) {
			require.NoError(w, os.Rename(m[0], m[0]+"x"))
			require.NoError(w, os.Rename(m[1], m[0]))
			require.NoError(w, os.Rename(m[0]+"x", m[1]))
		},
		"the last is another": func(w *world, m []string) {
			w.rewriteManifest(m[len(m)-1], func(text string) string { return strings.Replace(text, "INBOX", "SPAMX", 1) })
		},
		"one is another": func(w *world, m []string) {
			w.rewriteManifest(m[1], func(text string) string { return strings.Replace(text, "INBOX", "SPAMX", 1) })
		},
		"one is a bomb": func(w *world, m []string) {
			w.rewrite(m[1], func([]byte) []byte { return bomb(w, 100<<20) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, dbtest.SQLite(t))
			for i := range 3 {
				w.deliver(letter(i))
				w.keep()
			}
			manifests := w.objects("/manifest/")
			require.Len(t, manifests, 3)
			n, err := w.archive.VerifyChain(t.Context(), w.account)
			require.NoError(t, err)
			require.Equal(t, len(manifests), n)

			harm(w, manifests)
			_, err = w.archive.VerifyChain(t.Context(), w.account)
			require.ErrorIs(t, err, archive.ErrChain)
			require.NotEmpty(t, w.status().ChainFault)
			require.False(t, errorsOf(w.run(archive.NewVerifyJob(w.account, false))))
		})
	}
}

// errorsOf reports whether a job has failed: what is found is no failure of the verification.
func errorsOf(job *queue.Job) bool { return job.State != queue.StateCompleted }

// rewriteManifest changes the text of a manifest.
func (w *world) rewriteManifest(path string, change func(text string) string) {
	w.Helper()
	key, err := filepath.Rel(w.dir, path)
	require.NoError(w, err)
	text, err := archive.ReadObject(w.Context(), w.archive, filepath.ToSlash(key))
	require.NoError(w, err)
	changed := change(string(text))
	require.NotEqual(w, string(text), changed)
	object, err := archive.Seal(w.archive, []byte(changed))
	require.NoError(w, err)
	require.NoError(w, os.WriteFile(path, object, 0o600))
}

func TestASampleTakesTurns(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	for i := range 120 {
		w.deliver(letter(i))
	}
	w.keep()
	for range 40 {
		job := w.run(archive.NewVerifyJob(w.account, false))
		require.Equal(t, 3, result[map[string]int](w, job)["checked"])
	}
	// Each of the 120 had its turn: whichever object is broken now is found within as many weeks.
	id := w.deliver(letter(500))[0]
	w.keep()
	require.NoError(t, os.Remove(w.object(id)))
	for range 41 {
		w.run(archive.NewVerifyJob(w.account, false))
	}
	require.Equal(t, 1, w.status().Faults)
}

func TestWithoutTheKeyNothingIsReadAndNothingIsReplaced(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	w.encrypt()
	id := w.deliver(letter(1))[0]
	w.keep()
	object, err := os.ReadFile(w.object(id))
	require.NoError(t, err)
	require.NotContains(t, string(object), "Good day")
	keys := w.cfg.Keys
	w.cfg.Keys = nil
	w.open()
	_, err = w.archive.Raw(t.Context(), w.account, w.entry(id))
	require.ErrorIs(t, err, archive.ErrNoKey)
	before := w.status()
	require.ErrorIs(t, w.archive.Rebuild(t.Context(), w.account), archive.ErrNoKey)
	require.Equal(t, before, w.status(), "the index stays")

	_, err = w.archive.VerifyChain(t.Context(), w.account)
	require.ErrorIs(t, err, archive.ErrNoKey)
	require.NotErrorIs(t, err, archive.ErrChain, "it may be as it was")
	require.Contains(t, w.status().ChainFault, "archive.key_file")
	require.NotContains(t, w.status().ChainFault, "broken")
	require.Equal(t, queue.StateFailed, w.run(archive.NewVerifyJob(w.account, true)).State)
	require.Zero(t, w.status().Faults)

	second := w.deliver(letter(2))[0]
	objects := w.objects("")
	require.ErrorIs(t, w.keepOne(second), archive.ErrNoKey)
	job := w.run(archive.NewRunJob(w.account))
	require.Equal(t, queue.StateFailed, job.State)
	require.Contains(t, w.status().Failure, "archive.key_file")
	require.NoError(t, w.archive.Forget(t.Context(), w.account))
	require.ErrorIs(t, w.keepOne(second), archive.ErrNoKey)
	require.Equal(t, objects, w.objects(""), "nothing is written that is not encrypted")

	w.cfg.Keys = keys
	w.encrypt() // a new key before the old one
	require.NoError(t, w.archive.Rebuild(t.Context(), w.account))
	require.Equal(t, 2, w.keep().Messages)
	texts, faults := w.raws()
	require.Empty(t, faults)
	require.Len(t, texts, 2)
	_, err = w.archive.VerifyChain(t.Context(), w.account)
	require.NoError(t, err)
	require.Empty(t, w.status().ChainFault)
}

// What takes much memory when it is decoded is refused before.
func TestAManifestTakesLittleMemory(t *testing.T) {
	first := func(lines int) string {
		return fmt.Sprintf(`{"format":"postroom-archive/1","account":"a","number":1,"lines":%d}`+"\n", lines)
	}
	mail := func(labels string) string {
		return `{"mail":{"id":"x","sha256":"` + strings.Repeat("0", 64) + `","size":1,"state":"gone","labels":[` + labels +
			`]}}`
	}
	sound := first(1) + mail(`{"id":"INBOX","name":"INBOX"}`) + "\n"
	_, err := archive.DecodeManifest("a", 1, []byte(sound))
	require.NoError(t, err)
	const size = 32 << 20
	for name, c := range map[string]struct{ text, want string }{
		"lines":        {first(size) + strings.Repeat("\n", size), "lines after the first, more than"},
		"a first line": {strings.Repeat("[", size), "line 1 has"},
		"a line":       {first(1) + mail("{}"+strings.Repeat(",{}", size/3)), "line 2 has"},
		"labels":       {first(1) + mail("{}"+strings.Repeat(",{}", 10_000)), "labels"},
		"no ids":       {first(1) + mail("{}"), "without an id"},
	} {
		var before, after runtime.MemStats
		content := []byte(c.text)
		runtime.ReadMemStats(&before)
		_, err := archive.DecodeManifest("a", 1, content)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, c.want, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20), name)
	}
}

func FuzzReadManifest(f *testing.F) {
	f.Add([]byte(`{"format":"postroom-archive/1","account":"a","number":1,"lines":1}` + "\n" +
		`{"mail":{"id":"x","sha256":"` + strings.Repeat("0", 64) + `","size":1,"labels":[],"state":"gone"}}` + "\n"))
	f.Add([]byte("{}\n"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, content []byte) {
		mails, err := archive.DecodeManifest("a", 1, content)
		if err != nil {
			return
		}
		for _, e := range mails {
			require.Len(t, e.SHA256, 64, "it becomes a name")
			require.NotContains(t, e.SHA256, "/")
			require.NotContains(t, e.SHA256, ".")
			require.GreaterOrEqual(t, e.Size, int64(0))
		}
	})
}

func FuzzReadName(f *testing.F) {
	f.Add("v1/a/raw/00/" + strings.Repeat("0", 64) + ".eml.zst")
	f.Add("v1/a/manifest/0000000001.jsonl.zst")
	f.Add("v1/a/raw/../../b")
	f.Fuzz(func(t *testing.T, name string) {
		if archive.ParseKey("a", name) {
			require.NotContains(t, name, "..")
			require.True(t, strings.HasPrefix(name, "v1/a/"))
		}
	})
}

func FuzzReadObject(f *testing.F) {
	w := &archive.Archive{}
	sealed, err := archive.Seal(w, []byte(letter(1)))
	require.NoError(f, err)
	f.Add(sealed)
	f.Add(bomb(f, 4<<20))
	f.Fuzz(func(t *testing.T, object []byte) {
		content, err := archive.Unseal(w, object, 1<<20)
		require.True(t, err != nil || len(content) <= 1<<20)
	})
}

// Only what was read is verified: a new label says nothing about the copy, and the next run still writes it again.
func TestAChangeOfLabelsVerifiesNothing(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	ids := w.deliver(letter(1), letter(2))
	w.keep()
	require.NoError(t, os.Remove(w.object(ids[0])))
	w.run(archive.NewVerifyJob(w.account, true))
	require.Equal(t, 1, w.status().Faults)
	require.NoError(t, w.server.Person().Label(t.Context(), "Work", ids...))
	require.NoError(t, w.archive.Rebuild(t.Context(), w.account))
	require.Equal(t, 2, w.status().Unverified)
	w.keep()
	require.Contains(t, names(w.entry(ids[0])), "Work")
	require.Equal(t, 2, w.status().Unverified, "nobody has read them")

	w.run(archive.NewVerifyJob(w.account, true))
	require.Equal(t, 1, w.status().Faults)
	require.NoError(t, w.server.Person().Delete(t.Context(), ids[0]))
	require.NoError(t, w.server.Person().Star(t.Context(), ids[1]))
	w.keep()
	require.Equal(t, 1, w.status().Faults, "the copy is still missing")
}
