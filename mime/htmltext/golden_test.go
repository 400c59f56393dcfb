package htmltext_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/postroom-go/postroom/mime/htmltext"
)

var update = flag.Bool("update", false, "write the golden files of testdata/pages")

// Each page reads as its golden file says.
func TestGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/pages/*.html")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			page := htmltext.Read(string(source))
			require.False(t, page.Incomplete)
			golden := strings.TrimSuffix(file, ".html") + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(describe(page)), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), describe(page))
		})
	}
}

// TestMailIsReadCompletely: nothing that honest mail of today uses makes a reading incomplete or doubtful.
func TestMailIsReadCompletely(t *testing.T) {
	for _, name := range []string{"campaign", "newsletter", "reply", "word"} {
		source, err := os.ReadFile("testdata/pages/" + name + ".html")
		require.NoError(t, err)
		page := htmltext.Read(string(source))
		require.False(t, page.Incomplete, name)
		require.Empty(t, page.Doubtful, name)
	}
}

// describe writes a reading down for people.
func describe(page htmltext.Page) string {
	var out strings.Builder
	out.WriteString(page.Text + "\n\n== hidden ==\n")
	for _, h := range page.Hidden {
		fmt.Fprintf(&out, "%d %s: %+q\n", h.Offset, h.By, h.Text)
	}
	out.WriteString("\n== links ==\n")
	for _, l := range page.Links {
		fmt.Fprintf(&out, "%q: %s\n", page.Text[l.Start:l.End], l.URL)
	}
	return out.String()
}

// The page is of the size and the shape of a usual newsletter. What x/net/html takes for it is beside: for the
// tokens, and for the tree.
func BenchmarkText(b *testing.B) {
	raw, err := os.ReadFile("testdata/pages/newsletter.html")
	require.NoError(b, err)
	source := string(raw)
	run := func(name string, read func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			for b.Loop() {
				read()
			}
		})
	}
	run("Text", func() { htmltext.Text(source) })
	run("x-net-html-tokens", func() {
		tokens := html.NewTokenizer(strings.NewReader(source))
		for tokens.Next() != html.ErrorToken {
			tokens.Raw()
			for _, more := tokens.TagName(); more; {
				_, _, more = tokens.TagAttr()
			}
		}
	})
	run("x-net-html-tree", func() {
		_, err := html.Parse(strings.NewReader(source))
		require.NoError(b, err)
	})
}
