package notes_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

const cakePath = "Mail/2026/2026-12-01 Re Cake on Friday.md"

func TestAMessageHasOneNote(t *testing.T) {
	onBoth(t, func(d *desk) {
		m := d.add(cake())
		require.Equal(t, cakePath, d.note("1", m, "Bring plates"))
		require.Contains(t, d.read(cakePath), "\nBring plates\n")
		old := noon.Add(-time.Hour)
		require.NoError(t, os.Chtimes(d.path(cakePath), old, old))

		require.Equal(t, cakePath, d.note("2", m, "Bring plates"))
		info, err := os.Stat(d.path(cakePath))
		require.NoError(t, err)
		require.True(t, info.ModTime().Equal(old), "what is there already is not written again")

		require.Equal(t, cakePath, d.note("3", m, "And forks"))
		require.Regexp(t, `\nBring plates\n\nAnd forks\n$`, d.read(cakePath))
		require.Equal(t, []string{cakePath}, d.files())

		list, err := d.store.List(t.Context(), notes.Filter{AccountID: "ada", MessageID: m.ID, Limit: 2})
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.Equal(t, notes.Note{ID: "3", AccountID: "ada", MessageID: m.ID, Path: cakePath, Text: "And forks",
			CreatedAt: noon}, list[0])
		list, err = d.store.List(t.Context(), notes.Filter{Before: list[1].ID})
		require.NoError(t, err)
		require.Len(t, list, 1)
		_, err = d.store.List(t.Context(), notes.Filter{Limit: 1001})
		require.ErrorContains(t, err, "from 1 to 1000")
	})
}

func TestAnUndoRemovesWhatItsActionWrote(t *testing.T) {
	onBoth(t, func(d *desk) {
		m := d.add(cake())
		d.note("1", m, "Bring plates")
		d.note("2", m, "And forks")
		d.note("3", m, "And forks")
		require.NoError(t, d.undo("3", m, "And forks"))
		require.Contains(t, d.read(cakePath), "And forks", "another action wants it, too")
		require.NoError(t, d.undo("1", m, "Bring plates"))
		require.NotContains(t, d.read(cakePath), "plates")
		require.NoError(t, d.undo("2", m, "And forks"))
		require.Empty(t, d.files())
		_, err := d.store.Note(t.Context(), "2")
		require.ErrorIs(t, err, postroom.ErrNotFound)

		require.Equal(t, cakePath, d.note("4", m, "Again"))
	})
}

func TestWhatAPersonEditedIsNeverWrittenAgain(t *testing.T) {
	onBoth(t, func(d *desk) {
		m := d.add(cake())
		d.note("1", m, "Bring plates")
		mine := d.read(cakePath) + "\nI will.\n"
		d.write(cakePath, mine)

		require.Equal(t, cakePath, d.note("2", m, "Bring plates"), "it is about this message, and says this")
		beside := d.note("3", m, "And forks")
		require.Regexp(t, `^Mail/2026/2026-12-01 Re Cake on Friday [0-9a-f]{6}\.md$`, beside)
		require.Equal(t, mine, d.read(cakePath))
		require.NotContains(t, d.read(beside), "plates")

		d.note("4", m, "And knives")
		require.Regexp(t, `\nAnd forks\n\nAnd knives\n$`, d.read(beside))

		require.NoError(t, d.undo("2", m, "Bring plates"))
		err := d.undo("1", m, "Bring plates")
		require.ErrorIs(t, err, notes.ErrEdited)
		require.ErrorContains(t, err, cakePath)
		require.Equal(t, mine, d.read(cakePath))
	})
}

func TestWhatAPersonDeletedOrMovedStaysAway(t *testing.T) {
	onBoth(t, func(d *desk) {
		m := d.add(cake())
		d.note("1", m, "Bring plates")
		require.NoError(t, os.Rename(d.path(cakePath), d.path("Moved.md")))
		d.note("2", m, "Bring plates")
		require.Equal(t, []string{"Moved.md"}, d.files())
		require.Equal(t, cakePath, d.note("3", m, "And forks"))
		d.note("4", m, "And knives")
		require.NotContains(t, d.read(cakePath), "plates")
		require.NoError(t, d.undo("4", m, "And knives"))
		require.NoError(t, os.Remove(d.path(cakePath)))
		require.NoError(t, d.undo("3", m, "And forks"))
		require.NoError(t, d.undo("1", m, "Bring plates"))
		require.Equal(t, []string{"Moved.md"}, d.files())
	})
}

// A path that a person has freed may be that of another message's note by now.
func TestAnUndoLeavesTheNoteOfAnotherMessage(t *testing.T) {
	onBoth(t, func(d *desk) {
		first, second := d.add(cake()), d.add(cake())
		d.note("1", first, "Bring plates")
		require.NoError(t, os.Remove(d.path(cakePath)))
		require.Equal(t, cakePath, d.note("2", second, "Bring plates"))
		before := d.read(cakePath)
		require.NoError(t, d.undo("1", first, "Bring plates"))
		require.Equal(t, before, d.read(cakePath))
		require.NoError(t, d.undo("2", second, "Bring plates"))
		require.Empty(t, d.files())
	})
}

func TestNotesOfOneNameAreToldApartByTheirMessages(t *testing.T) {
	var names [2][]string
	for i := range names {
		d := newDesk(t, dbtest.SQLite(t), nil)
		d.write(cakePath, "a note of my own")
		first, second := d.add(cake()), d.add(cake())
		if i == 1 { // another database has other ids, and another order
			first.ID, second.ID, d.mail = "x", "y", map[string]*postroom.Message{"x": first, "y": second}
			names[i] = []string{"", d.note("2", second, "b")}
			names[i][0] = d.note("1", first, "a")
			continue
		}
		names[i] = []string{d.note("1", first, "a"), d.note("2", second, "b")}
		require.NotEqual(t, names[i][0], names[i][1])
		require.Equal(t, "a note of my own", d.read(cakePath))
	}
	require.Equal(t, names[0], names[1])
}

func TestNothingIsWrittenOutsideOfTheFolder(t *testing.T) {
	outside := t.TempDir()
	for name, test := range map[string]func(d *desk){
		"a folder that leads out": func(d *desk) {
			require.NoError(t, os.Symlink(outside, d.path("Mail")))
		},
		"a folder of a folder": func(d *desk) {
			require.NoError(t, os.Mkdir(d.path("Mail"), 0o700))
			require.NoError(t, os.Symlink("../../"+filepath.Base(outside), d.path("Mail/2026")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, dbtest.SQLite(t), nil)
			test(d)
			_, err := d.handle(action("1", d.add(cake()), "x"))
			require.ErrorContains(t, err, "put a folder in its place")
			require.True(t, isFatal(err))
			left, err := os.ReadDir(outside)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
	t.Run("a link in the place of the note", func(t *testing.T) {
		d := newDesk(t, dbtest.SQLite(t), nil)
		secret := filepath.Join(outside, "secret")
		require.NoError(t, os.WriteFile(secret, []byte("mine"), 0o600))
		require.NoError(t, os.MkdirAll(d.path("Mail/2026"), 0o700))
		require.NoError(t, os.Symlink(secret, d.path(cakePath)))
		m := d.add(cake())
		beside := d.note("1", m, "x")
		require.NotEqual(t, cakePath, beside)
		// and one in the place of what was written
		require.NoError(t, os.Remove(d.path(beside)))
		require.NoError(t, os.Symlink(secret, d.path(beside)))
		require.NotEqual(t, beside, d.note("2", m, "y"))
		require.ErrorIs(t, d.undo("1", m, "x"), notes.ErrEdited)
		kept, err := os.ReadFile(secret)
		require.NoError(t, err)
		require.Equal(t, "mine", string(kept))
	})
}

func TestAMissingFolderIsNotMade(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	require.NoError(t, os.Remove(d.folder))
	a := action("1", d.add(cake()), "x")
	ready := notes.Kind(func() *notes.Vault { return d.vault }).Ready
	var held *postroom.HeldError
	require.ErrorAs(t, ready(t.Context(), a), &held, "other actions of the message have its turn")
	require.Contains(t, held.Reason, "make it, or mount what it is on")
	_, err := d.handle(a)
	require.ErrorContains(t, err, "the folder of the vault is missing")
	require.NoError(t, os.Mkdir(d.folder, 0o700))
	require.NoError(t, ready(t.Context(), a))
	commit, err := d.handle(a)
	require.NoError(t, err)
	d.commit(commit)
	require.Equal(t, []string{cakePath}, d.files())
}

func TestNotesLinkThreadsAndAttachedFiles(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *notes.Config) {
			c.Files = func(context.Context, *postroom.Message) ([]notes.File, error) {
				return []notes.File{{Name: "../plan.pdf", Content: []byte("%PDF")},
					{Name: "plan.pdf", Content: []byte("another")},
					{Name: "run.md", Content: []byte("```dataviewjs\n```")}, {Content: []byte("nameless")}}, nil
			}
		})
		first := cake()
		first.ThreadID = "t"
		first.Attachments = []postroom.Attachment{{Filename: "plan.pdf"}}
		d.add(first)
		d.note("1", first, "a")
		text := d.read(cakePath)
		files := d.files()
		require.Len(t, files, 5)
		require.Regexp(t, `^Attachments/[0-9a-f]{12}/file$`, files[0])
		require.Regexp(t, `^Attachments/[0-9a-f]{12}/plan [0-9a-f]{6}\.pdf$`, files[1])
		require.Regexp(t, `^Attachments/[0-9a-f]{12}/plan\.pdf$`, files[2])
		require.Regexp(t, `^Attachments/[0-9a-f]{12}/run\.md\.txt$`, files[3])
		for _, file := range files[:4] {
			require.Contains(t, text, `"[[`+file+`]]"`)
		}
		second := cake()
		second.ThreadID, second.Subject = "t", "Re: Cake on Saturday"
		path := d.note("2", d.add(second), "b")
		require.Contains(t, d.read(path), "thread:\n  - \"[["+strings.TrimSuffix(cakePath, ".md")+"]]\"\n")
		require.Equal(t, text, d.read(cakePath), "an earlier note does not change")
		require.NoError(t, d.undo("2", second, "b"))

		d.note("3", first, "c")
		require.Equal(t, files, d.files())
		require.NoError(t, d.undo("3", first, "c"))
		require.Equal(t, text, d.read(cakePath), "the same bytes as before")
		d.write(files[2], "drawn on")
		require.NoError(t, d.undo("1", first, "a"))
		require.Equal(t, []string{files[2]}, d.files())
	})
}

func TestAnAccountIsForgottenAndItsFilesStay(t *testing.T) {
	onBoth(t, func(d *desk) {
		m := d.add(cake())
		d.note("1", m, "a")
		require.NoError(t, d.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return notes.Forget(ctx, tx, "ada")
		}))
		list, err := d.store.List(t.Context(), notes.Filter{})
		require.NoError(t, err)
		require.Empty(t, list)
		require.Equal(t, []string{cakePath}, d.files())
		err = d.undo("1", m, "a")
		require.ErrorContains(t, err, "its file stays: delete it yourself")
		require.True(t, isFatal(err))
		require.Equal(t, []string{cakePath}, d.files())
	})
}

// A mailbox that is signed in again has other ids here, and the same notes.
func TestAMailboxThatComesBackHasTheSameNotes(t *testing.T) {
	onBoth(t, func(d *desk) {
		m := d.add(cake())
		d.note("1", m, "a")
		again := *m
		again.ID, again.ThreadID = "", "another"
		require.NoError(t, d.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return notes.Forget(ctx, tx, "ada")
		}))
		require.Equal(t, cakePath, d.note("2", d.add(&again), "a"))
		require.Equal(t, []string{cakePath}, d.files())
	})
}

// Texts stand in the order in which they were written, also if a person approved an earlier action later.
func TestTextsStandInTheOrderOfTheirWriting(t *testing.T) {
	onBoth(t, func(d *desk) {
		m := d.add(cake())
		d.note("2", m, "forks")
		d.now = d.now.Add(time.Minute)
		d.note("1", m, "plates")
		require.Equal(t, cakePath, d.note("3", m, "knives"))
		require.Regexp(t, `\nforks\n\nplates\n\nknives\n$`, d.read(cakePath))
	})
}

func TestAKindWithoutVaultDescribesOnly(t *testing.T) {
	for _, of := range []func() *notes.Vault{nil, func() *notes.Vault { return nil }} {
		k := notes.Kind(of)
		kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{k}})
		require.NoError(t, err)
		require.Equal(t, postroom.Reversible, kinds.Danger(postroom.AddNote))
		_, err = k.Handler(t.Context(), nil, postroom.Action{})
		require.ErrorContains(t, err, "no Vault")
		_, err = k.Undo(t.Context(), nil, postroom.Action{})
		require.ErrorContains(t, err, "no Vault")
	}
}

func TestTheConfigIsChecked(t *testing.T) {
	_, err := notes.New(notes.Config{Folder: "vault", Path: "{{colour}}"})
	for _, fault := range []string{"Config.DB", "Config.Message", "Config.Mailbox", `"vault" is not an absolute path`,
		"{{colour}} is no variable; the variables are {{date}}, {{day}}, {{domain}},"} {
		require.ErrorContains(t, err, fault)
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorContains(t, notes.CheckFolder(file), "is a file")
	require.ErrorContains(t, notes.Migrate(t.Context(), nil), "db")
	_, err = notes.NewStore(nil)
	require.ErrorContains(t, err, "db")
}

func TestPathsAreChecked(t *testing.T) {
	for _, good := range []string{notes.DefaultPath, "{{subject}}", "Post/{{ mailbox }}/{{year}}-{{month}}-{{day}}",
		"{{domain}}/{{sender_name}} ({{sender}}) {{date}}"} {
		require.NoError(t, notes.CheckPath(good), good)
	}
	for bad, fault := range map[string]string{
		"":                           "1 to 200 bytes",
		strings.Repeat("x", 201):     "1 to 200 bytes",
		"/notes/{{subject}}":         "a name is empty",
		"a//b":                       "a name is empty",
		"../{{subject}}":             "must not have",
		".obsidian/{{subject}}":      "must not have",
		"con/{{subject}}":            "must not have",
		`a\b`:                        "must not have",
		"a:b":                        "must not have",
		"{{subject}":                 "must not have",
		"{{subject}}.md":             "leave it out",
		"{{subject}}" + " ":          "must not have",
		"[[{{subject}}]]":            "must not have",
		"a/b/c/d/e/f/{{subject}}":    "5 folders at most",
		"{{subject}}/\u202e{{date}}": "must not have",
	} {
		require.ErrorContains(t, notes.CheckPath(bad), fault, bad)
	}
}
