package mime

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Large texts are turned in pieces, counted first; small ones at once. It must not be seen where a piece ends.
func FuzzTranscode(f *testing.F) {
	f.Add("\uFEFFa\r\n\r\nb\r", 1)
	f.Add("\r", 5_000)
	f.Add("x\r\n", 20_000)
	f.Add("\u65e5\r\n\u672c", 9_000)
	f.Fuzz(func(t *testing.T, text string, times int) {
		text = strings.ToValidUTF8(text, "?")
		if times < 1 || len(text)*times > 1<<20 {
			return
		}
		text = strings.Repeat(text, times)
		want := strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
		require.Equal(t, want, transcode([]byte(text), nil, true))
		require.Equal(t, text, transcode([]byte(text), nil, false))
		encoded, err := lookupCharset("utf-16le").NewEncoder().Bytes([]byte(text))
		require.NoError(t, err)
		require.Equal(t, want, transcode(encoded, lookupCharset("utf-16le"), true))
	})
}

func TestTranscodeAllocatesLargeTextsOnce(t *testing.T) {
	b := bytes.Repeat([]byte("caf\xe9\r\n"), 1<<17)
	text := transcode(b, lookupCharset("windows-1252"), true)
	result := testing.Benchmark(func(bench *testing.B) {
		for bench.Loop() {
			transcode(b, lookupCharset("windows-1252"), true)
		}
	})
	require.Less(t, result.AllocedBytesPerOp(), int64(len(text)+64<<10))
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
