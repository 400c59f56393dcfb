package archive_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/queue"
)

// keepsMonths has the archive keep so many months from an instant on.
func (w *world) keepsMonths(months int, now string) {
	w.Helper()
	at, err := time.Parse(time.RFC3339, now)
	require.NoError(w, err)
	w.cfg.KeepMonths, w.cfg.Now = months, func() time.Time { return at }
	w.open()
}

func TestOldMonthsAreRemovedAndTheChainStaysWhole(t *testing.T) {
	eachWorld(t, func(w *world) {
		old := w.deliverAt("2026-08-31T23:59:59Z", letter(1))
		gone := w.deliverAt("2026-07-01T12:00:00Z", letter(2))
		same := w.deliverAt("2026-07-02T12:00:00Z", letter(3))
		kept := w.deliverAt("2026-09-01T00:00:00Z", letter(5))
		equal := w.deliverAt("2026-10-01T00:00:00Z", letter(4))
		w.keep()
		require.NoError(w, w.server.Person().Delete(w.Context(), gone))
		files := map[string]string{}
		for _, id := range []string{old, gone, same, kept, equal} {
			files[id] = w.object(id)
		}
		w.keepsMonths(2, "2026-11-27T12:00:00Z")
		job := w.run(archive.NewRunJob(w.account))
		require.Equal(w, queue.StateCompleted, job.State, job.LastError)
		s := w.status()
		require.Equal(w, 2, s.Messages)
		require.Equal(w, 3, s.Removed)
		require.Equal(w, 1, s.RemovedGone)
		require.Zero(w, s.Gone)
		require.False(w, s.RanAt.IsZero())
		for _, id := range []string{old, gone, same} {
			require.NoFileExists(w, files[id])
			require.True(w, w.entry(id).Removed)
			_, err := w.archive.Raw(w.Context(), w.account, w.entry(id))
			require.ErrorIs(w, err, archive.ErrRemoved)
		}
		require.FileExists(w, files[kept])
		checked, faults, err := w.archive.Verify(w.Context(), w.account, true)
		require.NoError(w, err, "the chain is whole")
		require.Equal(w, 2, checked)
		require.Zero(w, faults)
		left, err := w.archive.FindLeftovers(w.Context(), w.account)
		require.NoError(w, err)
		require.Zero(w, left.Orphans)
		months, err := w.archive.Months(w.Context(), w.account)
		require.NoError(w, err)
		require.Len(w, months, 4)
		require.Equal(w, archive.Month{Month: "2026-07", Removed: 2}, months[3])

		// They are not copied again, also when the mailbox is listed again, and a rebuilt index knows it.
		require.NoError(w, w.server.ForgetHistory(w.Context()))
		gets := w.server.Counts()["messages.get"]
		w.keep()
		require.Equal(w, gets, w.server.Counts()["messages.get"])
		require.NoError(w, w.archive.Rebuild(w.Context(), w.account))
		require.Equal(w, 3, w.status().Removed)
		require.NoError(w, w.server.Person().Star(w.Context(), old))
		w.keep()
		require.Equal(w, 3, w.status().Removed)
		require.True(w, w.entry(old).Removed)
		texts, faulty := w.raws()
		require.Empty(w, faulty)
		require.Len(w, texts, 2)
	})
}

// Equal messages have one object, which is there until the last of them is too old.
func TestAnObjectThatAnotherMessageHasIsKept(t *testing.T) {
	eachWorld(t, func(w *world) {
		first, second := w.deliver(letter(1))[0], w.deliver(letter(1))[0]
		w.keep()
		require.Equal(w, w.entry(first).SHA256, w.entry(second).SHA256)
		file := w.object(first)
		require.NoError(w, archive.SetReceived(w.Context(), w.archive, w.account, first, time.Now().AddDate(-3, 0, 0)))
		w.cfg.KeepMonths = 12
		w.open()
		require.Equal(w, 1, w.keep().Removed)
		require.FileExists(w, file)
		require.NoError(w, archive.SetReceived(w.Context(), w.archive, w.account, second, time.Now().AddDate(-3, 0, 0)))
		require.Equal(w, 2, w.keep().Removed)
		require.NoFileExists(w, file)
	})
}

// What a crash has left after the manifest was written is deleted by the next run.
func TestARemovalThatWasInterruptedIsFinished(t *testing.T) {
	eachWorld(t, func(w *world) {
		id := w.deliverAt("2020-01-01T00:00:00Z", letter(1))
		w.keep()
		file := w.object(id)
		content, err := os.ReadFile(file)
		require.NoError(w, err)
		w.keepsMonths(12, "2026-11-27T12:00:00Z")
		w.keep()
		require.NoFileExists(w, file)
		require.NoError(w, os.WriteFile(file, content, 0o600))
		require.NoError(w, w.archive.Rebuild(w.Context(), w.account)) // the index no longer knows that it was deleted
		w.keep()
		require.NoFileExists(w, file)
		require.Equal(w, 1, w.status().Removed)

		w.cfg.KeepMonths = -1
		_, err = archive.New(w.cfg)
		require.ErrorContains(w, err, "KeepMonths")
	})
}

// A deletion whose copy was removed cannot be undone, and says why. A message that is deleted after that is copied
// anew.
func TestAnUndoOfADeletionSaysThatItsCopyWasRemoved(t *testing.T) {
	eachWorld(t, func(w *world) {
		id := w.deliverAt("2020-01-01T00:00:00Z", letter(1))
		w.keep()
		w.keepsMonths(12, "2026-11-27T12:00:00Z")
		w.keep()
		require.True(w, w.entry(id).Removed)
		require.NoError(w, w.keepOne(id), "a permanent deletion copies first")
		require.False(w, w.entry(id).Removed)
		texts, faults := w.raws()
		require.Empty(w, faults)
		require.Len(w, texts, 1)
		w.keep()
		require.True(w, w.entry(id).Removed)
		err := archive.Undelete(w.Context(), w.archive, w.account, id)
		require.ErrorIs(w, err, archive.ErrRemoved)
		require.True(w, errors.Is(err, archive.ErrRemoved))
	})
}

// What is too old for the archive is not fetched by its first run.
func TestAFirstCopyLeavesOutWhatIsTooOld(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.deliverAt("2026-08-31T12:00:00Z", letter(1))
		kept := w.deliverAt("2026-09-01T00:00:00Z", letter(2))
		w.keepsMonths(2, "2026-11-27T12:00:00Z")
		gets := w.server.Counts()["messages.get"]
		w.keep()
		require.Equal(w, gets+1, w.server.Counts()["messages.get"])
		s := w.status()
		require.Equal(w, []int{1, 0}, []int{s.Messages, s.Removed})
		require.FileExists(w, w.object(kept))
	})
}
