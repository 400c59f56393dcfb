package mime_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

// corpora is a collection of real mail that is not part of the repository.
const corpora = "../../shared/corpora"

func corpus(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(corpora, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("NOT TESTED AGAINST REAL MAIL: %v", err)
	}
	return dir
}

// A vote is what most of three other parsers said about one field of a message.
type vote[T any] struct {
	Value T
	Votes int
	Of    int
}

type consensus struct {
	Path    string
	Subject vote[string]
	From    vote[[][2]string]
	To      vote[[][2]string]
	Date    vote[*float64]    `json:"date_unix"`
	Named   vote[[][2]string] `json:"named_attachments"`
}

func TestCorpusConsensus(t *testing.T) {
	dir := corpus(t, "01-mime-parse")
	file, err := os.Open(filepath.Join(dir, "consensus.jsonl"))
	require.NoError(t, err)
	defer file.Close()

	agreed, of := map[string]int{}, map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var want consensus
		require.NoError(t, json.Unmarshal(lines.Bytes(), &want))
		raw, err := os.ReadFile(filepath.Join(dir, want.Path))
		require.NoError(t, err)
		got, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err, want.Path)
		count := func(field string, votes int, same bool, want, got any) {
			if votes < 2 {
				return
			}
			key := field
			if votes == 2 {
				key = field + " (2 of 3)"
			}
			of[key]++
			if same {
				agreed[key]++
			} else {
				w, _ := json.Marshal(want)
				g, _ := json.Marshal(got)
				t.Logf("%s %s\n want %.400s\n  got %.400s", "", key, w, g)
			}
		}
		t.Log("##", want.Path)
		count("subject", want.Subject.Votes, words(got.Subject) == words(want.Subject.Value), want.Subject.Value, got.Subject)
		count("from", want.From.Votes, sameAddresses(want.From.Value, got.From), want.From.Value, got.From)
		count("to", want.To.Votes, sameAddresses(want.To.Value, got.To), want.To.Value, got.To)
		count("date", want.Date.Votes, want.Date.Value == nil && got.Date.IsZero() || want.Date.Value != nil && int64(*want.Date.Value) == got.Date.Unix(), want.Date.Value, got.Date)
		n := named(got)
		count("named", want.Named.Votes, slices.Equal(sorted(n), sorted(want.Named.Value)), want.Named.Value, n)
	}
	require.NoError(t, lines.Err())
	for k := range of {
		t.Logf("RATE %s %d/%d", k, agreed[k], of[k])
	}
}

func sorted(l [][2]string) [][2]string {
	l = slices.Clone(l)
	slices.SortFunc(l, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	return l
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }

func sameAddresses(want [][2]string, got []mime.Address) bool {
	var have [][2]string
	for _, a := range got {
		have = append(have, [2]string{words(a.Name), strings.ToLower(a.Email)})
	}
	for i := range want {
		want[i][0] = words(want[i][0])
	}
	return slices.Equal(want, have)
}

func named(m *mime.Message) (l [][2]string) {
	l = [][2]string{}
	for _, p := range m.Attachments {
		if p.Filename != "" {
			sum := sha256.Sum256(p.Content)
			l = append(l, [2]string{p.Filename, hex.EncodeToString(sum[:])})
		}
	}
	return l
}

func TestCorpusRefuseNothing(t *testing.T) {
	for _, name := range []string{"01-mime-parse", "05-spam-news"} {
		dir := corpus(t, name)
		n := 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			require.NoError(t, err)
			if d.IsDir() {
				return nil
			}
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			_, err = mime.ParseBytes(raw, nil)
			require.NoError(t, err, path)
			n++
			return nil
		})
		require.NoError(t, err)
		require.NotZero(t, n)
	}
}
