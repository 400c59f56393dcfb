package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTablesFitTheTerminal(t *testing.T) {
	table := func(width int) string {
		var out bytes.Buffer
		l := newTable(&out, "ID", "ACTION", "WHY IT WAITS", "SUBJECT")
		l.width = width
		l.row("01a2027b-5a72-74ae-a057-8fe2478a73ad", "delete", "action is classified as dangerous; confidence 0.45 is below threshold", "Größe\x1b[31m")
		l.row("01a2027b-5b05-759a-948b-26e5e08e812d", "forward", "", "two")
		require.NoError(t, l.flush("nothing"))
		if width > 0 {
			require.LessOrEqual(t, widest(out.String()), width)
		}
		return out.String()
	}
	require.Equal(t, `ID                                    ACTION   WHY IT WAITS                                                           SUBJECT
01a2027b-5a72-74ae-a057-8fe2478a73ad  delete   action is classified as dangerous; confidence 0.45 is below threshold  Größe[31m
01a2027b-5b05-759a-948b-26e5e08e812d  forward                                                                         two
`, table(0))
	require.Equal(t, table(0), table(200))
	require.Equal(t, `id            01a2027b-5a72-74ae-a057-8fe2478a73ad
action        delete
why it waits  action is classified as dangerous; confidence…
subject       Größe[31m

id            01a2027b-5b05-759a-948b-26e5e08e812d
action        forward
subject       two
`, table(60))
}
