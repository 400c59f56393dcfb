package charset

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUTF7(t *testing.T) {
	for encoded, want := range map[string]string{
		"plain": "plain", "1 +- 1": "1 + 1", "1 + 1": "1 + 1", "+AOQA5ADk-": "\u00e4\u00e4\u00e4", "+AOQ": "\u00e4", "+AOQ--": "\u00e4-", "+/wE-": "\uff01",
		"+2ADcAA-": "\U00010000", "+2AA-": "\ufffd", "+3AA-": "\ufffd", "+2AAAYQ-": "\ufffda", "+2ADYPd4A-": "\ufffd\U0001f600",
	} {
		text, problem := Decode([]byte(encoded), "UTF-7")
		require.Equal(t, want, text, encoded)
		require.Empty(t, problem, encoded)
	}
	for _, broken := range []string{"a+b", "+AOQA-"} {
		_, problem := Decode([]byte(broken), "UTF-7")
		require.Equal(t, Broken, problem, "bits that are no unit")
	}
}

// Large texts are turned in pieces, counted first; small ones at once. It must not be seen where a piece ends.
func FuzzTranscode(f *testing.F) {
	f.Add("\uFEFFa\r\n\r\nb\r", 1)
	f.Add("\r", 5_000)
	f.Add("a\r", 40_000)
	f.Add("\uFEFFa\n", 20_000)
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

// A large text is read twice, and each time from its beginning.
func TestTranscodeBeginsAnew(t *testing.T) {
	b := "abc \x1b$B" + strings.Repeat("F|", large)
	want := "abc " + strings.Repeat("\u65e5", large)
	require.Equal(t, want, transcode([]byte(b), lookupCharset("iso-2022-jp"), true), "it ends in two-byte characters")
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
