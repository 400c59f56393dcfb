package mime_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/corpora"
	"github.com/postroom-go/postroom/mime"
)

func corpus(t *testing.T, name string) string {
	t.Helper()
	dir := corpora.Path(name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("NOT TESTED AGAINST REAL MAIL: %v", err)
	}
	return dir
}

// A vote is what most of three other readers say about one field of a message.
type vote[T any] struct {
	Value T   `json:"value"`
	Votes int `json:"votes"`
}

type consensus struct {
	Path    string            `json:"path"`
	Subject vote[string]      `json:"subject"`
	From    vote[[][2]string] `json:"from"`
	To      vote[[][2]string] `json:"to"`
	Date    vote[*float64]    `json:"date_unix"`
	Named   vote[[][2]string] `json:"named_attachments"`
}

// Where three other readers agree, we agree with them: on every field of every message.
func TestCorpusConsensus(t *testing.T) {
	dir := corpus(t, "01-mime-parse")
	votes, err := os.ReadFile(filepath.Join(dir, "consensus.jsonl"))
	require.NoError(t, err)
	compared := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(votes))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var want consensus
		require.NoError(t, json.Unmarshal(lines.Bytes(), &want))
		raw, err := os.ReadFile(filepath.Join(dir, want.Path))
		require.NoError(t, err)
		got, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err, want.Path)

		compare := func(field string, votes int, want, got any) {
			// A replacement character is what a reader writes that has lost one; there is nothing to agree with.
			if votes == 3 && !strings.Contains(fmt.Sprint(want), "\uFFFD") {
				compared[field]++
				require.Equal(t, want, got, "%s: %s", field, lines.Bytes()[:60])
			}
		}
		compare("subject", want.Subject.Votes, words(want.Subject.Value), words(got.Subject))
		compare("from", want.From.Votes, normal(want.From.Value), pairs(got.From))
		compare("to", want.To.Votes, normal(want.To.Value), pairs(got.To))
		if want.Path != namedAgainstAll {
			compare("named", want.Named.Votes, normal(want.Named.Value), normal(named(got)))
		}
		date := int64(0)
		if want.Date.Value != nil {
			date = int64(*want.Date.Value)
		}
		compare("date", want.Date.Votes, date, max(0, got.Date.Unix()))
	}
	require.NoError(t, lines.Err())
	for _, field := range []string{"subject", "from", "to", "named", "date"} {
		require.Greater(t, compared[field], 250, field)
	}
}

// namedAgainstAll has "Content-Disposition: ; filename=image001.png": the others take the name for the disposition, and
// lose it.
const namedAgainstAll = "stalwart-mail-parser/malformed/017.eml"

func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// normal is the form in which pairs are compared: in a fixed order, blanks and the case of addresses set aside.
func normal(l [][2]string) [][2]string {
	out := make([][2]string, len(l))
	for i, pair := range l {
		out[i] = [2]string{words(pair[0]), strings.ToLower(pair[1])}
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	return out
}

func pairs(addresses []mime.Address) [][2]string {
	var l [][2]string
	for _, a := range addresses {
		l = append(l, [2]string{a.Name, a.Email})
	}
	return normal(l)
}

// named are the attachments that have a name, with the hash of their content.
func named(m *mime.Message) [][2]string {
	var l [][2]string
	for _, p := range m.Attachments {
		if p.Filename != "" {
			sum := sha256.Sum256(p.Content)
			l = append(l, [2]string{p.Filename, hex.EncodeToString(sum[:])})
		}
	}
	return l
}

// eachMail calls f with the samples of this repository and with every file of the corpora of mail, where they are.
func eachMail(t *testing.T, f func(path string, raw []byte)) {
	t.Helper()
	dirs := []string{"testdata", "../gmail/gmailtest/sample/messages"}
	if _, err := os.Stat(corpora.Path()); err == nil {
		dirs = append(dirs, corpora.Path("01-mime-parse"), corpora.Path("05-spam-news"))
	} else {
		t.Logf("tested against the samples alone, and not against real mail: %v", err)
	}
	for i, dir := range dirs {
		found := 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			isSample := i < 2 // beside other files
			if err != nil || d.IsDir() || isSample && filepath.Ext(path) != ".eml" {
				return err
			}
			raw, err := os.ReadFile(path)
			f(path, raw)
			found++
			return err
		})
		require.NoError(t, err)
		require.Greater(t, found, 50, dir)
	}
}

func TestCorpusRefusesNothing(t *testing.T) {
	eachMail(t, func(path string, raw []byte) {
		m, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err, path)
		requireSound(t, m)
	})
}

// What was read can be sent on: a reply with the same people, subject and text is built and reads back.
func TestCorpusBuildsWhatWasRead(t *testing.T) {
	eachMail(t, func(path string, raw []byte) {
		m, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err, path)
		o := mime.Outgoing{
			From: []mime.Address{{Email: "ada@example.com"}}, To: []mime.Address{{Email: "bob@example.org"}},
			Subject: m.Subject, Text: "x" + m.Text, HTML: m.HTML,
		}
		for _, a := range m.Attachments {
			o.Attachments = append(o.Attachments, mime.Attachment{Filename: a.Filename, Content: a.Content})
		}
		built, err := o.Build()
		require.NoError(t, err, path)
		requireLines(t, built)
		again, err := mime.ParseBytes(built, nil)
		require.NoError(t, err, path)
		require.Empty(t, again.Defects, path)
		require.Equal(t, o.Subject, again.Subject, path)
		require.Len(t, again.Attachments, len(o.Attachments), path)
	})
}
