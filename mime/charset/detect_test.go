package charset

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
)

var update = flag.Bool("update", false, "write the golden files of this package anew")

// read returns a text with a declared charset.
func read(b []byte, name string) string {
	found, _ := (*Finder)(nil).Find(b, name)
	return found.Text(b)
}

func encoded(t *testing.T, text, charset string) []byte {
	t.Helper()
	b, err := lookupCharset(charset).NewEncoder().Bytes([]byte(text))
	require.NoError(t, err)
	return b
}

// samples are the texts of a language and the charsets that mail in it comes in.
var samples = []struct {
	file     string
	charsets []string
}{
	{"zh-Hans", []string{"gb18030"}},
	{"zh-Hant", []string{"big5"}},
	{"ja", []string{"shift_jis", "euc-jp", "iso-2022-jp"}},
	{"ko", []string{"euc-kr"}},
	{"ru", []string{"windows-1251", "koi8-r"}},
	{"th", []string{"windows-874"}},
	{"el", []string{"windows-1253"}},
	{"he", []string{"windows-1255"}},
	{"ar", []string{"windows-1256", "iso-8859-6"}},
	{"western", []string{"windows-1252"}},
}

func sampleText(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	require.NoError(t, err)
	return string(text)
}

// pieces are all pieces of so many characters that begin at every third one, in a charset. Those without characters
// beyond ASCII, which need no charset, are left out.
func pieces(t testing.TB, text, charset string, size int) (found [][]byte) {
	t.Helper()
	for line := range strings.Lines(text) {
		runes := []rune(strings.TrimSpace(line))
		for at := 0; at+size <= len(runes) || at == 0; at += 3 {
			piece := runes[at:min(len(runes), at+size)]
			if !slices.ContainsFunc(piece, func(r rune) bool { return r >= utf8.RuneSelf }) {
				continue
			}
			b, err := encoding.ReplaceUnsupported(lookupCharset(charset).NewEncoder()).Bytes([]byte(string(piece)))
			require.NoError(t, err)
			found = append(found, b)
		}
	}
	return found
}

// TestCharsetAccuracy says how often a charset is found: read testdata/accuracy.txt.
func TestCharsetAccuracy(t *testing.T) {
	var table strings.Builder
	header := "%-14s %-13s %8s %8s %8s %8s %8s %8s\n"
	fmt.Fprintf(&table, header, "text", "charset", "4", "8", "16", "32", "a line", "named")
	row := func(file, charset string, right func(b []byte, size int) string) {
		line := []any{file, charset}
		for _, size := range []int{4, 8, 16, 32, 1000, -4} {
			found := pieces(t, sampleText(t, file), charset, max(size, -size))
			good := 0
			for _, b := range found {
				if right(b, size) == charset {
					good++
				}
			}
			line = append(line, fmt.Sprintf("%.1f %%", 100*float64(good)/float64(len(found))))
		}
		fmt.Fprintf(&table, header, line...)
	}
	for _, s := range samples {
		for _, charset := range s.charsets {
			row(s.file, charset, func(b []byte, size int) string {
				if size < 0 {
					return detectCharset(b, []string{charset}, "")
				}
				return detectCharset(b, nil, "")
			})
		}
	}
	table.WriteString(
		"\nThe columns are the number of characters in a piece of text; in the last, four, and the message names the charset elsewhere.\n")
	golden := filepath.Join("testdata", "accuracy.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(table.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), table.String())
}

// A whole text is always found, and the declaration of another charset does not keep it from being read rightly.
func TestCharsetOfWholeTexts(t *testing.T) {
	for _, s := range samples {
		text := sampleText(t, s.file)
		for _, charset := range s.charsets {
			b, err := lookupCharset(charset).NewEncoder().Bytes([]byte(text))
			require.NoError(t, err)
			require.Equal(t, charset, detectCharset(b, nil, ""), s.file)
			if charset == "iso-2022-jp" {
				continue // 7-bit: only what is declared as nothing or as UTF-8 can be it
			}
			isRare := slices.ContainsFunc(candidates, func(c candidate) bool { return c.name == charset && c.rare })
			for _, declared := range []string{"iso-8859-1", "gb2312", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1251",
				"koi8-r", "tis-620"} {
				if isRare && (declared == "windows-1251" || declared == "koi8-r" || declared == "tis-620") {
					continue // which they could be, if it is not certain
				}
				p := read(b, declared)
				require.Equal(t, text, p, "%s in %s, declared as %s", s.file, charset, declared)
			}
		}
	}
}

// UTF-8 that is declared as something else is read as UTF-8.
func TestCharsetOfUTF8(t *testing.T) {
	for _, s := range samples {
		text := sampleText(t, s.file)
		for _, declared := range []string{"", "us-ascii", "iso-8859-1", "gb2312", "big5", "koi8-r", "none-such"} {
			p := read([]byte(text), declared)
			require.Equal(t, text, p, "%s declared as %q", s.file, declared)
		}
	}
}

// A declaration that is right is kept, also where another charset would look well; one of a short text is not doubted.
func TestCharsetDeclared(t *testing.T) {
	for _, s := range samples {
		for _, charset := range s.charsets {
			for _, size := range []int{3, 4, 6, 8, 12, 24} {
				for _, b := range pieces(t, sampleText(t, s.file), charset, size) {
					require.Equal(t, charset, detectCharset(b, nil, charset), "%q", b)
				}
			}
		}
	}
	require.Equal(t, "koi8-r", detectCharset([]byte("na\xefve caf\xe9"), nil, "koi8-r"))
	require.Equal(t, western, detectCharset([]byte(strings.Repeat("na\xefve caf\xe9 ", 10)), nil, "koi8-r"))
	require.Equal(t, "iso-2022-jp", detectCharset([]byte("\x1b$@F|K\\\x1b(B"), nil, ""))
}

func TestSampleOfLargeTexts(t *testing.T) {
	b := []byte(strings.Repeat("only ASCII\n", 10_000) + strings.Repeat("x", 500) + "\xcf\xf0\xe8\xe2\xe5\xf2\n" +
		strings.Repeat("ASCII\n", 1000))
	sample := sampleOf(b)
	require.Less(t, len(sample), 100)
	require.True(t, bytes.HasSuffix(sample, []byte("\xcf\xf0\xe8\xe2\xe5\xf2\n")))
	require.Equal(t, "windows-1251", detectCharset(b, nil, ""))
	require.Len(t, sampleOf(bytes.Repeat([]byte("\xcf\xf0\n"), MaxSample)), MaxSample)
	require.Empty(t, sampleOf(bytes.Repeat([]byte("x"), 2*MaxSample)))
	require.Equal(t, "na\xefve", string(sampleOf([]byte(strings.Repeat("ASCII\n", MaxSample)+"na\xefve"))),
		"the last line does not end")
}

func FuzzDetectCharset(f *testing.F) {
	for _, s := range samples {
		for _, charset := range s.charsets {
			f.Add(pieces(f, sampleText(f, s.file), charset, 24)[0], charset)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, declared string) {
		if len(b) > 1<<10 { // long ones say nothing new, and take the fuzzer's time to make them short
			return
		}
		found := detectCharset(b, []string{declared}, "")
		require.NotNil(t, lookupCharset(found))
		require.Equal(t, found, detectCharset(bytes.Clone(b), []string{declared}, ""), "the same bytes, the same charset")
		p := read(b, declared)
		require.True(t, utf8.ValidString(p))
	})
}
