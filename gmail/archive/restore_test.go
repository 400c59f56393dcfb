package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

func (w *world) restore(r archive.Restore) map[archive.Outcome]int {
	w.Helper()
	if r.Source == "" {
		r.Source = w.account
	}
	r.AccountID = w.account
	job, err := archive.NewRestoreJob(r)
	require.NoError(w, err)
	done := w.run(job)
	require.Equal(w, queue.StateCompleted, done.State, done.LastError)
	report, err := w.archive.RestoreReport(w.Context(), r.ID)
	require.NoError(w, err)
	return report
}

func TestARestoreBringsBackWhatIsMissingOnceAndIsUndoneAtOnce(t *testing.T) {
	eachWorld(t, func(w *world) {
		ids := w.deliver(letter(1), letter(2), letter(3), "Subject: without an id\r\n\r\nx\r\n")
		person := w.server.Person()
		require.NoError(w, person.Label(w.Context(), "Work/Zoe", ids[0]))
		require.NoError(w, person.Star(w.Context(), ids[0]))
		w.keep()
		require.NoError(w, person.Delete(w.Context(), ids[0], ids[1], ids[3]))
		require.NoError(w, person.DeleteLabel(w.Context(), "Work/Zoe"))
		w.keep()

		dry := w.restore(archive.Restore{ID: "dry", DryRun: true})
		require.Equal(w, map[archive.Outcome]int{archive.Missing: 3, archive.There: 1}, dry)
		require.Len(w, w.mailbox(), 1, "a dry run changes nothing")

		report := w.restore(archive.Restore{ID: "one", Label: "Back again"})
		require.Equal(w, map[archive.Outcome]int{archive.Restored: 3, archive.There: 1}, report)
		mail := w.mailbox()
		require.Len(w, mail, 4)
		for text, found := range mail {
			require.Len(w, found, 1, text)
		}
		back := mail[letter(1)][0]
		require.Subset(w, back.Labels, []string{"Work/Zoe", "STARRED", "INBOX", "Back again"})
		require.NotContains(w, mail[letter(3)][0].Labels, "Back again")

		require.Equal(w, report, w.restore(archive.Restore{ID: "one", Label: "Back again"}), "again")
		require.Equal(w, map[archive.Outcome]int{archive.There: 4}, w.restore(archive.Restore{ID: "two"}))
		require.Len(w, w.mailbox(), 4)

		done := w.run(archive.NewUndoRestoreJob("one", w.account))
		require.Equal(w, queue.StateCompleted, done.State, done.LastError)
		undone, err := w.archive.RestoreReport(w.Context(), "one")
		require.NoError(w, err)
		require.Equal(w, map[archive.Outcome]int{archive.Undone: 3, archive.There: 1}, undone)
		mail = w.mailbox()
		require.Contains(w, mail[letter(1)][0].Labels, "TRASH")
		require.NotContains(w, mail[letter(3)][0].Labels, "TRASH")

		require.Equal(w, map[archive.Outcome]int{archive.Restored: 3, archive.There: 1},
			w.restore(archive.Restore{ID: "three"}), "out of the trash")
		mail = w.mailbox()
		require.Len(w, mail[letter(1)], 1)
		require.NotContains(w, mail[letter(1)][0].Labels, "TRASH")
		require.Contains(w, mail[letter(1)][0].Labels, "Work/Zoe")
	})
}

// Whatever answer is lost, and at whatever call, each message comes back once.
func TestAnImportWhoseAnswerIsLostIsNotMadeTwice(t *testing.T) {
	for name, text := range map[string]string{"with an id": letter(1), "without an id": "Subject: x\r\n\r\ny\r\n"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, dbtest.SQLite(t))
			id := w.deliver(text)[0]
			w.keep()
			require.NoError(t, w.server.Person().Delete(t.Context(), id))
			w.keep()
			w.server.Fault(gmailtest.Fault{Method: "messages.import", Cut: gmailtest.CutAfter})
			require.Equal(t, map[archive.Outcome]int{archive.Restored: 1}, w.restore(archive.Restore{ID: "r"}))
			require.Len(t, w.mailbox()[text], 1)
			require.Len(t, w.mailbox(), 1)
		})
	}
}

// A message that is taken out of the trash has its labels, whichever call fails or loses its answer.
func TestAMessageOutOfTheTrashHasItsLabels(t *testing.T) {
	for name, fault := range map[string]gmailtest.Fault{
		"none":             {},
		"modify fails":     {Method: gmailtest.MessagesModify, Cut: gmailtest.CutBefore},
		"modify is lost":   {Method: gmailtest.MessagesModify, Cut: gmailtest.CutAfter},
		"untrash fails":    {Method: gmailtest.MessagesUntrash, Cut: gmailtest.CutBefore},
		"untrash is lost":  {Method: gmailtest.MessagesUntrash, Cut: gmailtest.CutAfter},
		"modify is failed": {Method: gmailtest.MessagesModify, Status: 500, Times: 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, dbtest.SQLite(t))
			id := w.deliver(letter(1))[0]
			require.NoError(t, w.server.Person().Label(t.Context(), "Work", id))
			w.keep()
			require.NoError(t, w.server.Person().Delete(t.Context(), id))
			w.keep()
			w.restore(archive.Restore{ID: "one"})
			back := w.mailbox()[letter(1)][0]
			w.run(archive.NewUndoRestoreJob("one", w.account))
			require.NoError(t, w.server.Person().Unlabel(t.Context(), "Work", back.ID))
			if fault.Method != "" {
				w.server.Fault(fault)
			}
			require.Equal(t, map[archive.Outcome]int{archive.Restored: 1}, w.restore(archive.Restore{ID: "two"}))
			found := w.mailbox()[letter(1)]
			require.Len(t, found, 1)
			require.Contains(t, found[0].Labels, "Work")
			require.Contains(t, found[0].Labels, "INBOX")
			require.NotContains(t, found[0].Labels, "TRASH")
		})
	}
}

func TestAMessageWithTheSameIDAndOtherContentIsNotTheSame(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	id := w.deliver(letter(1))[0]
	w.keep()
	require.NoError(t, w.server.Person().Delete(t.Context(), id))
	forged := strings.Replace(letter(1), "Good day", "Bad day", 1)
	w.deliver(forged)
	w.keep()
	job, err := archive.NewRestoreJob(archive.Restore{ID: "r", Source: w.account, AccountID: w.account, DryRun: true,
		Selection: archive.Selection{GoneOnly: true}})
	require.NoError(t, err)
	w.run(job)
	report, err := w.archive.RestoreReport(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, map[archive.Outcome]int{archive.Missing: 1}, report)
}

func TestADamagedMessageIsNotRestored(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	ids := w.deliver(letter(1), letter(2))
	w.keep()
	require.NoError(t, w.server.Person().Delete(t.Context(), ids...))
	w.keep()
	other, err := archive.Seal(w.archive, []byte(letter(9)))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.object(ids[0]), other, 0o600))
	require.Equal(t, map[archive.Outcome]int{archive.Restored: 1, archive.Faulty: 1}, w.restore(archive.Restore{ID: "r"}))
	require.Len(t, w.mailbox(), 1)
}

func TestARestoreIntoAnotherMailboxNeedsNoneOfTheFirst(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	w.deliver(letter(1), letter(2))
	w.keep()
	source := w.account
	w.changeMailbox("new@example.com")
	require.Equal(t, map[archive.Outcome]int{archive.Restored: 2}, w.restore(archive.Restore{ID: "r", Source: source}))
}

func TestABadRestoreIsRefused(t *testing.T) {
	for name, r := range map[string]archive.Restore{
		"no id":     {Source: "a", AccountID: "a"},
		"no source": {ID: "x", AccountID: "a"},
		"a path":    {ID: "x", Source: "../b", AccountID: "a"},
		"a label":   {ID: "x", Source: "a", AccountID: "a", Label: "INBOX"},
	} {
		_, err := archive.NewRestoreJob(r)
		require.Error(t, err, name)
	}
}

func TestExports(t *testing.T) {
	eachWorld(t, func(w *world) {
		odd := "Subject: odd\n\nFrom me\n>From you\n>>From all\nno end"
		ids := w.deliver(letter(1), letter(2), odd)
		require.NoError(w, w.server.Person().Read(w.Context(), ids[0]))
		w.keep()
		require.NoError(w, os.Remove(w.object(ids[1])))
		dir := w.TempDir()
		for _, format := range []archive.Format{archive.Mbox, archive.Maildir, archive.Zip} {
			path := filepath.Join(dir, string(format))
			done, err := w.archive.Export(w.Context(), w.account, archive.Selection{}, format, path)
			require.NoError(w, err)
			require.Equal(w, 2, done.Messages)
			require.Equal(w, 1, done.Faulty)
			require.Equal(w, ids[1], done.Faults[0].MessageID)
			_, err = w.archive.Export(w.Context(), w.account, archive.Selection{}, format, path)
			require.ErrorIs(w, err, os.ErrExist)
		}
		require.ElementsMatch(w, []string{letter(1), odd}, maildirTexts(w, filepath.Join(dir, "maildir")))
		require.ElementsMatch(w, []string{letter(1), odd}, zipTexts(w, filepath.Join(dir, "zip")))
		box, err := os.ReadFile(filepath.Join(dir, "mbox"))
		require.NoError(w, err)
		require.Contains(w, string(box), "\n>From me\n>>From you\n>>>From all\nno end\n")
		source, err := mailbox.OpenMbox(filepath.Join(dir, "mbox"))
		require.NoError(w, err)
		n := 0
		for _, err := range source.Messages() {
			require.NoError(w, err)
			n++
		}
		require.Equal(w, 2, n)
		flags, err := filepath.Glob(filepath.Join(dir, "maildir", "cur", "*:2,S"))
		require.NoError(w, err)
		require.Len(w, flags, 1)
		_, err = w.archive.Export(w.Context(), w.account, archive.Selection{}, "pst", filepath.Join(dir, "pst"))
		require.ErrorContains(w, err, "mbox")
	})
}

func maildirTexts(w *world, dir string) (texts []string) {
	source, err := mailbox.OpenMaildir(dir)
	require.NoError(w, err)
	for m, err := range source.Messages() {
		require.NoError(w, err)
		texts = append(texts, string(m.Raw))
	}
	return texts
}

func zipTexts(w *world, path string) (texts []string) {
	r, err := zip.OpenReader(path)
	require.NoError(w, err)
	defer r.Close()
	for _, f := range r.File {
		part, err := f.Open()
		require.NoError(w, err)
		text, err := io.ReadAll(part)
		require.NoError(w, err)
		if f.Name == "index.jsonl" {
			require.Equal(w, 2, bytes.Count(text, []byte("\n")))
			continue
		}
		texts = append(texts, string(text))
	}
	return texts
}

func TestASelectionSelects(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	ids := w.deliver(letter(1), letter(2))
	require.NoError(t, w.server.Person().Label(t.Context(), "Work", ids[1]))
	w.keep()
	at := w.entry(ids[0]).ReceivedAt
	for name, s := range map[string]struct {
		archive.Selection
		want int
	}{
		"all":          {archive.Selection{}, 2},
		"a label":      {archive.Selection{Label: "work"}, 1},
		"an id":        {archive.Selection{MessageIDs: ids[:1]}, 1},
		"gone":         {archive.Selection{GoneOnly: true}, 0},
		"since":        {archive.Selection{Since: at.Add(-time.Hour)}, 2},
		"since after":  {archive.Selection{Since: at.Add(time.Hour)}, 0},
		"until before": {archive.Selection{Until: at.Add(-time.Hour)}, 0},
	} {
		n := 0
		for _, err := range w.archive.Entries(t.Context(), w.account, "", s.Selection) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, s.want, n, name)
	}
}

func TestARestoredMessageIsKnown(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	id := w.deliver(letter(1))[0]
	w.keep()
	require.NoError(t, w.server.Person().Delete(t.Context(), id))
	w.keep()
	w.restore(archive.Restore{ID: "r"})
	back := w.mailbox()[letter(1)][0]
	known, err := w.archive.IsRestored(t.Context(), &postroom.Message{AccountID: w.account, ProviderID: back.ID})
	require.NoError(t, err)
	require.True(t, known)
	known, err = w.archive.IsRestored(t.Context(), &postroom.Message{AccountID: w.account, ProviderID: "new",
		MessageID: "1@example.org", Size: int64(len(letter(1)))})
	require.NoError(t, err)
	require.False(t, known, "a copy that arrives later is new mail")
}

// Whoever knows a Message-ID can repeat it: such a message is set aside neither after a dry run, nor because the
// mailbox has the first one, and an import that never ended holds it up for a while only.
func TestAMessageIDIsNoProofOfARestore(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	ids := w.deliver(letter(1), letter(2))
	w.keep()
	require.NoError(t, w.server.Person().Delete(t.Context(), ids[0]))
	w.keep()
	require.Equal(t, map[archive.Outcome]int{archive.Missing: 1, archive.There: 1},
		w.restore(archive.Restore{ID: "dry", DryRun: true}))
	for n, id := range map[int]string{1: "forged", 2: ids[1]} {
		aside, err := w.archive.IsRestored(t.Context(), &postroom.Message{AccountID: w.account, ProviderID: id,
			MessageID: fmt.Sprintf("%d@example.org", n), Size: int64(len(letter(n)))})
		require.NoError(t, err)
		require.False(t, aside, id)
	}

	change := func(sql string, args ...any) {
		require.NoError(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, sql, args...)
			return err
		}))
	}
	change(`UPDATE restored_messages SET outcome = 'importing', at = $1`, dbtime.Of(time.Now().Add(-9*time.Minute)))
	m := &postroom.Message{AccountID: w.account, ProviderID: "new", MessageID: "1@example.org"}
	aside, err := w.archive.IsRestored(t.Context(), m)
	require.ErrorContains(t, err, "is being restored")
	require.False(t, aside)
	other := &postroom.Message{AccountID: w.account, ProviderID: "other", MessageID: "3@example.org"}
	aside, err = w.archive.IsRestored(t.Context(), other)
	require.NoError(t, err)
	require.False(t, aside)
	change(`UPDATE restored_messages SET at = $1`, dbtime.Of(time.Now().Add(-11*time.Minute)))
	aside, err = w.archive.IsRestored(t.Context(), m)
	require.NoError(t, err)
	require.False(t, aside)
}

func TestLabelsOfGmailsOwnAreMapped(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	id := w.deliver(letter(1))[0]
	require.NoError(t, w.server.Person().Trash(t.Context(), id))
	w.cfg.SpamTrash = true
	w.open()
	w.keep()
	require.Equal(t, archive.Trashed, w.entry(id).State)
	require.NoError(t, w.server.Person().Delete(t.Context(), id))
	w.keep()
	w.restore(archive.Restore{ID: "r"})
	back := w.mailbox()[letter(1)]
	require.Len(t, back, 1)
	require.False(t, slices.Contains(back[0].Labels, "TRASH"))
}
