package mime

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlowedText(t *testing.T) {
	for text, want := range map[string]string{
		"a \nb\nc\n":        "a b\nc\n",
		"a \nb":             "a b",
		"a \r\nb\r\n":       "a b\n",
		"> a \n> b\n":       "> a b\n",
		"> a \n>> b \nc\n":  "> a \n>> b \nc\n",
		">\n> a\n":          ">\n> a\n",
		">>a\n":             ">> a\n",
		" >a \n > b\n":      ">a > b\n",
		"a \n-- \nb\n":      "a \n-- \nb\n",
		"a \n":              "a \n",
		"a\x00 \x00\n\x00b": "a\x00 \x00\n\x00b",
	} {
		require.Equal(t, want, string(unflow([]byte(text), false)), "%q", text)
	}
}

// Whatever is encoded is decoded, wherever its lines end; and no bytes make the reader fail.
func FuzzDecodeBase64(f *testing.F) {
	f.Add([]byte("any content"), 76)
	f.Add([]byte{}, 4)
	f.Add([]byte("VGhlIG1haWwu\nCg==\n-- \nA list\n"), 60)
	f.Fuzz(func(t *testing.T, content []byte, width int) {
		_, _, _ = decodeBase64(content)
		_, _ = decodeLetters(content)
		if width < 1 || width > 1000 || len(content) == 0 {
			return
		}
		var lines strings.Builder
		for encoded := base64.StdEncoding.EncodeToString(content); encoded != ""; {
			n := min(width, len(encoded))
			lines.WriteString(encoded[:n] + "\r\n")
			encoded = encoded[n:]
		}
		got, tail, ok := decodeBase64([]byte(lines.String()))
		require.True(t, ok)
		require.Empty(t, tail)
		require.Equal(t, content, got)
	})
}

func FuzzUnflow(f *testing.F) {
	f.Add("> a \n> b\n>> c\n-- \n x \n", true)
	f.Add("a \n\n b\n", false)
	f.Add("\xc2 \n\x85", true)
	f.Add("a \x00\nb\n", true)
	f.Fuzz(func(t *testing.T, text string, delSp bool) {
		if strings.Contains(text, "\x00") {
			require.Equal(t, text, string(unflow([]byte(text), delSp)))
			return
		}
		got := string(unflow([]byte(text), delSp))
		require.LessOrEqual(t, len(got), 2*len(text), "a blank for each quoted line at most")
		words := strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "", ">", "").Replace
		require.Equal(t, words(text), words(got), "no word is lost")
	})
}
