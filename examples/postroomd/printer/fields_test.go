package printer

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const narrowTerminal = 40

func TestNamesAndValuesFitTheTerminal(t *testing.T) {
	head := "1:25:" + strings.Repeat("0123456789abcdef", 4)
	text := func(width int) string {
		var out bytes.Buffer
		f := NewFields(&out)
		f.width = width
		f.Add("entries", 25)
		f.Add("", "")
		f.Add("  jobs", "12 waiting, 3 running, 104 failed\nall of them")
		f.Add("fault", "action 01a2027b-5a72-74ae-a057-8fe2478a73ad: it was \x1b[31maltered")
		f.Add("head", head)
		require.NoError(t, f.Flush())
		return out.String()
	}
	require.Equal(t, `entries  25
  jobs   12 waiting, 3 running, 104 failed
         all of them
fault    action 01a2027b-5a72-74ae-a057-8fe2478a73ad: it was [31maltered
head     `+head+"\n", text(0))
	require.Equal(t, text(0), text(100))
	require.Equal(t, `entries  25
  jobs   12 waiting, 3 running, 104
         failed
         all of them
fault
  action
  01a2027b-5a72-74ae-a057-8fe2478a73ad:
  it was [31maltered
head
  `+head+"\n", text(narrowTerminal), "what people copy is not broken")
}

func TestLinesFitTheTerminal(t *testing.T) {
	require.Equal(t, "no mailbox is signed in to; 'postroomd\n  auth login' signs in to one\n",
		WrapLines("no mailbox is signed in to; 'postroomd auth login' signs in to one\n", narrowTerminal))
	text := "Rules\n     100  Newsletters and other things  (archive)\n\nActions\n     100  archive\n"
	require.Equal(t, "Rules\n     100 Newsletters and other things\n       (archive)\n\nActions\n     100  archive\n",
		WrapLines(text, narrowTerminal))
	require.Equal(t, text, WrapLines(text, 0))
	require.Equal(t, "01a2027b-5a72\n  an id\n", WrapLines("01a2027b-5a72 an id\n", 8), "what people copy is not broken")
}

func TestAnEmptyTableFitsTheTerminal(t *testing.T) {
	var out bytes.Buffer
	l := NewTable(&out, "MAILBOX")
	l.width = narrowTerminal
	require.NoError(t, l.Flush("no mailbox is signed in to; 'postroomd auth login' signs in to one"))
	require.LessOrEqual(t, widest(out.String()), narrowTerminal)
}
