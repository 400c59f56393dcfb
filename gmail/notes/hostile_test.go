package notes_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/internal/corpora"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/mime"
)

var (
	keys = []string{"title", "date", "from", "from_name", "to", "cc", "mailbox", "thread", "attachments", "message_id",
		"postroom", "tags"}
	linked = regexp.MustCompile(`\[\[[^\[\]|#^\\<>\x60]+\]\]`)
	gmail  = regexp.MustCompile(`\[Open in Gmail\]\(https://mail\.google\.com/mail/\?authuser=[^)\s]*#all/[0-9a-zA-Z]+\)`)
	pair   = regexp.MustCompile(`\\.`)
)

// requireHarmless fails if anything of a note but its own links is more than text.
func requireHarmless(t testing.TB, note string) {
	t.Helper()
	require.True(t, utf8.ValidString(note))
	front, body := frontMatter(t, note)
	for key, value := range front {
		require.Contains(t, keys, key, note)
		for _, text := range texts(value) {
			text = linked.ReplaceAllString(text, "")
			for _, bad := range []string{"[", "]", "<", ">", "`", "://", "::", "\n", "\u202e"} {
				require.NotContains(t, text, bad, note)
			}
		}
	}
	require.Equal(t, []any{"mail"}, front["tags"], note)
	for _, raw := range []string{"<%", "{{", "%%", "```", "`=", "dv.view('", "\u202e", "\r", "\x00"} {
		require.NotContains(t, strings.ReplaceAll(body, `dv.view('x')`, ""), raw, note)
	}
	lines := strings.Split(strings.TrimPrefix(body, "\n"), "\n")
	require.True(t, strings.HasPrefix(lines[0], "# "), note)
	lines[0] = lines[0][2:]
	for _, line := range lines {
		if line == "## The mail" {
			continue
		}
		line = strings.TrimPrefix(line, "> ")
		if line == ">" {
			continue
		}
		line = gmail.ReplaceAllString(linked.ReplaceAllString(line, ""), "")
		require.NotContains(t, line, "://", note)
		require.NotContains(t, line, "::", note)
		plain := pair.ReplaceAllString(line, "")
		require.False(t, strings.ContainsAny(plain, "\\`*_{}[]<>#|~$=%^&"), "%q in %s", line, note)
		require.NotRegexp(t, `^\s*([-+]|\d+[.)])`, line)
		require.NotRegexp(t, `(?i)www\.`, line)
	}
}

func texts(value any) (list []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, each := range v {
			list = append(list, texts(each)...)
		}
	}
	return list
}

// requireGoodPath fails if a path has what a system or a link takes for something else.
func requireGoodPath(t testing.TB, path string) {
	t.Helper()
	require.NotRegexp(t, "[\\\\:*?\"<>|#^\\[\\]`~%$\\x00-\\x1f]", path)
	for name := range strings.SplitSeq(path, "/") {
		require.LessOrEqual(t, len(name), 130)
		require.NotRegexp(t, `(?i)^(\.|-| |(con|prn|aux|nul|com\d|lpt\d)(\.|$))|[. ]$`, name)
		require.NotEmpty(t, name)
	}
}

var odd = []string{"", ".", "..", "../../etc/passwd", "CON", "con.txt", "Lpt1 .x", "a\x00b", "\u202e", "...", "-rf",
	"~",
	".git", "GIT~1", "a/b\\c", "x]]", "[[x", "a|b#c^d", "Ca\u0301fe", strings.Repeat("ü", 400), strings.Repeat("x", 5000),
	"\xff\xfe", "👩‍👩‍👧", " ", "\u3000", "nul ", "COM¹", "end.", "end ", "\n\n---\n", "%%x%%", "{{subject}}"}

func TestOddNames(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), func(c *notes.Config) {
		c.Path, c.Text = "{{sender}}/{{domain}}/{{sender_name}}/{{subject}}", true
	})
	for i, name := range odd {
		path := d.note(string(rune('a'+i)), d.add(&postroom.Message{Subject: name, MessageID: name, BodyPlain: name,
			From: postroom.Address{Name: name, Email: name}}), name+"x")
		requireGoodPath(t, path)
		requireHarmless(t, d.read(path))
	}
	require.Len(t, d.files(), len(odd))
	for name, want := range map[string]string{"CON": "_CON", "a/b\\c": "a b c", "Cafe\u0301": "Café", "-rf": "rf",
		".git": "git",
		"..":   "Unnamed", "👩‍👩‍👧": "👩‍👩‍👧", "a|b#c^d": "a b c d"} {
		path := d.note("n "+name, d.add(&postroom.Message{Subject: name}), "x")
		require.Equal(t, "Unnamed/Unnamed/Unnamed/"+want, strings.TrimSuffix(regexp.MustCompile(` [0-9a-f]{6}\.md$`).
			ReplaceAllString(path, ".md"), ".md"))
	}
}

// Real mail and published attacks stay text.
func TestHostileMailStaysText(t *testing.T) {
	var list []*postroom.Message
	for _, folder := range []string{"01-mime-parse", "05-spam-news", "11-reports"} {
		_ = filepath.WalkDir(corpora.Path(folder), func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || len(list) >= 100 {
				return nil //nolint:nilerr // what cannot be read is counted below
			}
			if raw, err := os.ReadFile(path); err == nil {
				p, err := mime.ParseBytes(raw, nil)
				if err != nil {
					return nil //nolint:nilerr // it is no mail
				}
				m := &postroom.Message{Subject: p.Subject, BodyPlain: p.Text, BodyHTML: p.HTML, MessageID: p.MessageID}
				if len(p.From) > 0 {
					m.From = postroom.Address{Name: p.From[0].Name, Email: p.From[0].Email}
				}
				for _, part := range p.Attachments {
					m.Attachments = append(m.Attachments, postroom.Attachment{Filename: part.Filename})
				}
				list = append(list, m)
			}
			return nil
		})
	}
	var attacks []struct {
		Text string `json:"text"`
	}
	if raw, err := os.ReadFile(corpora.Path("04-prompt-injection", "bipia_attacks.json")); err == nil {
		require.NoError(t, json.Unmarshal(raw, &attacks))
	}
	for _, a := range attacks {
		list = append(list, &postroom.Message{Subject: a.Text, BodyPlain: a.Text, From: postroom.Address{Name: a.Text}})
	}
	if len(list) == 0 {
		t.Skip("NOT TESTED: there are no corpora; see POSTROOM_TEST_CORPORA")
	}
	t.Log(len(list), "messages")
	d := newDesk(t, dbtest.SQLite(t), func(c *notes.Config) { c.Text = true })
	for i, m := range list {
		path := d.note(fmt.Sprint("n", i), d.add(m), m.Subject+"\n"+m.BodyPlain+"x")
		requireGoodPath(t, path)
		requireHarmless(t, d.read(path))
	}
}

func FuzzNote(f *testing.F) {
	for _, text := range odd {
		f.Add(text, text, text)
	}
	f.Add("[[x]]", "a://b", "1. x\n- y\n+ z\n:::a::b\n")
	d := newDesk(f, dbtest.SQLite(f), func(c *notes.Config) { c.Text = true })
	f.Fuzz(func(t *testing.T, subject, from, text string) {
		d.TB = t
		id := fmt.Sprintf("%s %x", t.Name(), subject+from+text)
		m := &postroom.Message{ID: "m" + id, Subject: subject, From: postroom.Address{Name: from, Email: from},
			BodyPlain: text, ProviderID: "1"}
		path := d.note(id, d.add(m), text+"x")
		requireGoodPath(t, path)
		requireHarmless(t, d.read(path))
		require.NoError(t, d.undo(id, m, text+"x"))
	})
}

// An address links to the note about a person alone, and to no other.
func TestOnlyAddressesAreLinks(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	long := strings.Repeat("x", 100)
	path := d.note("1", d.add(&postroom.Message{From: postroom.Address{Email: "Passwords"}, To: []postroom.Address{
		{Email: "Ben@example.com"}, {Email: "@ben"}, {Email: "plans@"}, {Email: `"ben  x"@example.com`},
		{Email: `.ben@example.com`}, {Email: long + "@example.com"}, {Email: "a/ben@example.com"}}}), "x")
	note := d.read(path)
	require.Equal(t, []string{"[[ben@example.com]]"}, linked.FindAllString(note, -1))
	require.Contains(t, note, "from: \"Passwords\"\n")
	require.Contains(t, note, "  - \"@ben\"\n")
	require.Contains(t, note, "\nPasswords · ")
	requireHarmless(t, note)
}

func TestLongFieldsAreCut(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	m := &postroom.Message{Subject: strings.Repeat("www.", 1<<20)}
	for i := range 60 {
		m.To = append(m.To, postroom.Address{Email: fmt.Sprintf("p%d@example.com", i)})
		m.Attachments = append(m.Attachments, postroom.Attachment{Filename: fmt.Sprintf("%d.pdf", i), Inline: true})
	}
	note := d.read(d.note("1", d.add(m), "x"))
	require.Less(t, len(note), 10_000)
	require.Contains(t, note, "  - \"[[p49@example.com]]\"\n  - \"… and 10 more\"\n")
	require.Contains(t, note, "  - \"49.pdf\"\n  - \"… and 10 more\"\n")
	requireHarmless(t, note)
}
