package filing_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/archive/folder"
	"github.com/postroom-go/postroom/gmail/filing"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

const planPath = "2026/2026-12-01 Ben plan.pdf"

func TestAFileOfAMessageIsWrittenOnce(t *testing.T) {
	onBoth(t, func(d *desk) {
		m := d.add(named("plan.pdf", "a"), named("copy.pdf", "a"), named("plan.pdf", "b"))
		require.Equal(t, "files filed: 2 of 3", d.file("1", m, nil))
		files := d.list()
		require.Len(t, files, 2)
		require.Equal(t, "a", d.read(planPath))
		require.Regexp(t, `^2026/2026-12-01 Ben plan [0-9a-f]{6}\.pdf$`, files[0])
		require.Equal(t, "b", d.read(files[0]))
		info, err := os.Stat(d.path(planPath))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

		d.file("2", m, postroom.Parameters{"path": "Other/{{filename}}"})
		require.Equal(t, files, d.list(), "another action about the message writes nothing again")

		other := d.add(named("plan.pdf", "a"))
		d.file("3", other, nil)
		require.Len(t, d.list(), 3, "each message has its own files")
		require.NoError(t, d.undo("3", other))
		require.Equal(t, files, d.list())
		require.NoError(t, d.undo("1", m))
		require.Equal(t, files, d.list(), "the second action wants them")
		require.NoError(t, d.undo("2", m))
		require.Empty(t, d.list())
		d.file("4", m, nil)
		require.Equal(t, files, d.list())
	})
}

func TestAFileOfAPersonStays(t *testing.T) {
	onBoth(t, func(d *desk) {
		d.write(planPath, "a")
		m := d.add(named("plan.pdf", "a"))
		d.file("1", m, nil)
		require.Len(t, d.list(), 2, "the same bytes may be anybody's")
		require.NoError(t, d.undo("1", m))
		require.Equal(t, []string{planPath}, d.list())
	})
}

func TestAnUndoLeavesWhatAPersonHasEdited(t *testing.T) {
	onBoth(t, func(d *desk) {
		m := d.add(named("plan.pdf", "a"), named("bill.pdf", "b"), named("moved.pdf", "c"))
		d.file("1", m, nil)
		d.write(planPath, "mine")
		require.NoError(t, os.Remove(d.path("2026/2026-12-01 Ben moved.pdf")))
		d.file("2", m, nil)
		require.Len(t, d.list(), 2, "what a person has removed stays away")
		require.NoError(t, d.undo("2", m))

		err := d.undo("1", m)
		require.ErrorIs(t, err, filing.ErrEdited)
		require.True(t, isFatal(err))
		require.ErrorContains(t, err, "files removed: 2 of 3; "+planPath)
		require.Equal(t, []string{planPath}, d.list())
		require.Equal(t, "mine", d.read(planPath))

		require.NoError(t, os.Remove(d.path(planPath)))
		require.NoError(t, d.undo("1", m), "the person did what the error says")
		d.file("3", m, nil)
		require.Len(t, d.list(), 3, "all is as if nothing had been filed")
	})
}

func TestTheParametersSelectFiles(t *testing.T) {
	big := strings.Repeat("x", 2048)
	files := []filing.File{named("Plan.PDF", "a"), named("bill/2.pdf", big), named("song.mp3", big+"y"),
		{Name: "logo.png", Content: []byte(big + "z"), Picture: true},
		{Name: "broken.txt", Content: []byte("=?"), Unread: true}}
	for name, test := range map[string]struct {
		p    postroom.Parameters
		want []string
		said string
	}{
		"all but pictures": {nil, []string{"Plan.PDF", "bill 2.pdf", "song.mp3"},
			"files filed: 3 of 5; not filed, since they cannot be read: 1"},
		"by name": {postroom.Parameters{"names": "*.pdf"}, []string{"Plan.PDF", "bill 2.pdf"}, "files filed: 2 of 5"},
		"by names": {postroom.Parameters{"names": []any{"plan.*", "*.MP3"}}, []string{"Plan.PDF", "song.mp3"},
			"files filed: 2 of 5"},
		"by size":       {postroom.Parameters{"min_kb": 2}, []string{"bill 2.pdf", "song.mp3"}, "files filed: 2 of 5"},
		"by both":       {postroom.Parameters{"min_kb": 2, "names": "*.pdf"}, []string{"bill 2.pdf"}, "files filed: 1 of 5"},
		"pictures, too": {postroom.Parameters{"pictures": true, "names": "logo*"}, []string{"logo.png"}, "files filed: 1 of 5"},
		"none": {postroom.Parameters{"names": "*.doc"}, nil,
			"the action wants none of the 5 attached files: nothing is filed"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, dbtest.SQLite(t), func(c *filing.Config) { c.Path = "{{filename}}" })
			m := d.add(files...)
			require.Equal(t, test.said, d.file("1", m, test.p))
			require.Equal(t, test.want, d.list())
			require.NoError(t, d.undo("1", m))
			require.Empty(t, d.list())
		})
	}
}

func TestAMailWithoutFilesIsDoneAndSaysSo(t *testing.T) {
	onBoth(t, func(d *desk) {
		m := d.add()
		require.Equal(t, "the message has no attached files: nothing is filed", d.file("1", m, nil))
		require.Contains(t, string(d.run("1").steps["choose"]), "no attached files")
		require.NoError(t, d.undo("1", m))
	})
}

func TestBadParametersAreRefused(t *testing.T) {
	k := filing.Kind(nil)
	for want, p := range map[string]postroom.Parameters{
		`names has the pattern "[a"`:       {"names": "[a"},
		"{{cake}} is no variable":          {"path": "{{cake}}"},
		`"../{{filename}}": it has what`:   {"path": "a/../{{filename}}"},
		"a name is empty":                  {"path": "/etc/{{filename}}"},
		"min_kb":                           {"min_kb": 0},
		"pictures":                         {"pictures": "yes"},
		"{{filename}}, {{mailbox}}, {{mon": {"path": "{{nothing}}"},
	} {
		require.ErrorContains(t, k.CheckParameters(p, noon), strings.Replace(want, `"../{{filename}}": it`, "it", 1), p)
	}
	require.NoError(t, k.CheckParameters(postroom.Parameters{"names": []any{"*.pdf", `\[1\]*`}, "min_kb": 20,
		"path": "{{domain}}/{{filename}}", "pictures": true}, noon))
	_, err := k.Handler(t.Context(), nil, postroom.Action{})
	require.ErrorContains(t, err, "no Cabinet")
	_, err = filing.New(filing.Config{Path: "{{x}}", Folder: "a"})
	for _, want := range []string{"Config.DB", "Config.Message", "Config.Mailbox", "Config.Files", "Config.Path",
		"absolute"} {
		require.ErrorContains(t, err, want)
	}
}

// goodName is a name that every system can have.
var goodName = regexp.MustCompile(`^[^/\\:*?"<>|\x00-\x1f]*[^ ./\\:*?"<>|\x00-\x1f]$`)

func TestHostileNamesStayInTheFolder(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), func(c *filing.Config) { c.Path = "{{sender_name}}/{{subject}}/{{filename}}" })
	outside := filepath.Dir(d.folder)
	before, err := os.ReadDir(outside)
	require.NoError(t, err)
	for i, name := range []string{"", ".", "..", "../../x.txt", "/etc/passwd", `..\..\x.txt`, "a\x00b.txt", "aux",
		"NUL.txt", "con.pdf",
		strings.Repeat("ä", 300) + ".pdf", "x." + strings.Repeat("y", 300), "\xff\xfe.pdf", "fdp.\u202eexe", ".bashrc", "-rf",
		"a\nb.txt", "x.pdf ", "x.p/df", "...", "~/x", "COM1", "a:b.txt", "$(rm).sh", " "} {
		m := d.add(named(name, name+"content"))
		m.Subject, m.From.Name = name, name
		d.file(string(rune('a'+i)), m, nil)
	}
	files := d.list()
	require.Len(t, files, 25)
	for _, file := range files {
		for part := range strings.SplitSeq(file, "/") {
			require.Regexp(t, goodName, part)
			require.LessOrEqual(t, len(part), 140)
			require.NotRegexp(t, `(?i)^(aux|nul|con|com1)(\.|$)`, part)
		}
	}
	require.Contains(t, strings.Join(files, "\n"), strings.Repeat("ä", 50)+".pdf", "a long name keeps its ending")
	after, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, after, len(before))
}

func TestNothingIsWrittenThroughALink(t *testing.T) {
	d, outside := newDesk(t, dbtest.SQLite(t), nil), t.TempDir()
	require.NoError(t, os.Symlink(outside, d.path("2026")))
	m := d.add(named("plan.pdf", "a"))
	_, err := d.handle(action("1", m, nil))
	require.ErrorContains(t, err, "put a folder in its place")
	require.True(t, isFatal(err))
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, left)

	secret := filepath.Join(outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("a"), 0o600))
	require.NoError(t, os.Remove(d.path("2026")))
	require.NoError(t, os.Mkdir(d.path("2026"), 0o700))
	require.NoError(t, os.Symlink(secret, d.path(planPath)))
	d.file("2", m, nil)
	require.Len(t, d.list(), 2)
	require.NoError(t, d.undo("2", m))
	require.FileExists(t, secret)
}

// Mail can name a file like the folder of another rule.
func TestAFileInPlaceOfAFolderIsToldOf(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	d.write("2026", "a file")
	_, err := d.handle(action("1", d.add(named("plan.pdf", "a")), nil))
	require.ErrorContains(t, err, "a file has its name: move the file")
	require.True(t, isFatal(err))
	require.Equal(t, []string{"2026"}, d.list())
}

func TestAMissingFolderIsNotMade(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	require.NoError(t, os.Remove(d.folder))
	a := action("1", d.add(named("plan.pdf", "a")), nil)
	var held *postroom.HeldError
	require.ErrorAs(t, d.kind().Ready(t.Context(), a), &held)
	require.Contains(t, held.Reason, "make it, or mount what it is on")
	_, err := d.handle(a)
	require.ErrorContains(t, err, "the folder of attached files is missing")
	require.NoError(t, os.Mkdir(d.folder, 0o700))
	require.NoError(t, d.kind().Ready(t.Context(), a))
}

// A host may give a bucket. The folder of the archive is one whose objects are files.
func TestABucketGetsTheFiles(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		dir := t.TempDir()
		bucket, err := folder.Open(dir)
		require.NoError(t, err)
		defer bucket.Close()
		d := newDesk(t, db, func(c *filing.Config) { c.Folder, c.Bucket, c.Sync = "", bucket.Bucket, bucket.Sync })
		d.folder = dir
		d.write(planPath, "a")
		m := d.add(named("plan.pdf", "a"), named("bill.pdf", "b"))
		require.NoError(t, d.kind().Ready(t.Context(), action("1", m, nil)))
		_, err = d.handle(action("1", m, nil)) // and the process dies
		require.NoError(t, err)
		d.file("1", m, nil)
		require.Len(t, d.list(), 3)
		d.write("2026/2026-12-01 Ben bill.pdf", "mine")
		require.ErrorIs(t, d.undo("1", m), filing.ErrEdited)
		require.Equal(t, []string{"2026/2026-12-01 Ben bill.pdf", planPath}, d.list())
	})
}

func TestAForgottenMailboxKeepsItsFiles(t *testing.T) {
	onBoth(t, func(d *desk) {
		m := d.add(named("plan.pdf", "a"))
		d.file("1", m, nil)
		require.NoError(t, d.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return filing.Forget(ctx, tx, "ada")
		}))
		err := d.undo("1", m)
		require.ErrorContains(t, err, "forgotten when their mailbox was removed")
		require.True(t, isFatal(err))
		require.Equal(t, []string{planPath}, d.list())
	})
}

// Outlook and Apple Mail send logos as attachments, too; what the HTML shows is a picture.
func TestPicturesOfTheTextAreTold(t *testing.T) {
	parsed, err := mime.ParseBytes([]byte(strings.ReplaceAll(`From: ben@example.com
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/html

<p>The plan <img src="cid:logo"><img src='CID:one@x'></p>
--x
Content-Type: application/pdf; name=plan.pdf
Content-Disposition: inline; filename=plan.pdf
Content-ID: <plan>

%PDF
--x
Content-Type: image/png; name=logo.png
Content-Disposition: inline; filename=logo.png
Content-ID: <logo>

logo
--x
Content-Type: image/png; name=one.png
Content-Disposition: attachment; filename=one.png
Content-ID: <one@x>

one
--x
Content-Type: image/png; name=photo.png
Content-Disposition: attachment; filename=photo.png
Content-ID: <log>

photo
--x
Content-Type: message/rfc822
Content-Disposition: attachment

Subject: forwarded

hello
--x
Content-Type: text/calendar

BEGIN:VCALENDAR
END:VCALENDAR
--x
Content-Type: text/calendar; name=invite.ics
Content-Disposition: attachment; filename=invite.ics

BEGIN:VCALENDAR
END:VCALENDAR
--x--
`, "\n", "\r\n")), nil)
	require.NoError(t, err)
	var pictures, files []string
	for _, f := range filing.FilesOf(parsed) {
		if f.Picture {
			pictures = append(pictures, f.Name)
		} else {
			files = append(files, f.Name)
		}
	}
	require.Equal(t, []string{"logo.png", "one.png"}, pictures)
	require.Equal(t, []string{"plan.pdf", "photo.png", "message.eml", "invite.ics"}, files)
}
