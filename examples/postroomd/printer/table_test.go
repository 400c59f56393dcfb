package printer

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTablesFitTheTerminal(t *testing.T) {
	table := func(width int) string {
		var out bytes.Buffer
		l := NewTable(&out, "ID", "ACTION", "WHY IT WAITS", "SUBJECT")
		l.width = width
		l.Row("01a2027b-5a72-74ae-a057-8fe2478a73ad", "delete",
			"action is classified as dangerous; confidence 0.45 is below threshold", "Größe\x1b[31m")
		l.Row("01a2027b-5b05-759a-948b-26e5e08e812d", "forward", "", "two")
		require.NoError(t, l.Flush("nothing"))
		require.LessOrEqual(t, widest(out.String()), width)
		return out.String()
	}
	require.Equal(t, `ID                                    ACTION   WHY IT WAITS                                                           SUBJECT
01a2027b-5a72-74ae-a057-8fe2478a73ad  delete   action is classified as dangerous; confidence 0.45 is below threshold  Größe[31m
01a2027b-5b05-759a-948b-26e5e08e812d  forward                                                                         two
`, table(200))
	require.Equal(t, `ID                                    ACTION   WHY IT WAITS          SUBJECT
01a2027b-5a72-74ae-a057-8fe2478a73ad  delete   action is classifie…  Größe[31m
01a2027b-5b05-759a-948b-26e5e08e812d  forward                        two
`, table(78))
	require.Equal(t, `id            01a2027b-5a72-74ae-a057-8fe2478a73ad
action        delete
why it waits  action is classified as dangerous; confidence
              0.45 is below threshold
subject       Größe[31m

id            01a2027b-5b05-759a-948b-26e5e08e812d
action        forward
subject       two
`, table(60))
	require.Equal(t, `id
  01a2027b-5a72-74ae-a057-8fe2478a73ad
action        delete
why it waits  action is classified as
              dangerous; confidence 0.45
              is below threshold
subject       Größe[31m

id
  01a2027b-5b05-759a-948b-26e5e08e812d
action        forward
subject       two
`, table(40))
}

// A name that is wider than the terminal is not broken: people copy it.
func TestNamesAreNotBrokenOnANarrowTerminal(t *testing.T) {
	var out bytes.Buffer
	l := NewTable(&out, "ID", "ERROR")
	l.width = 20
	l.Row("01a2027b-5a72-74ae-a057-8fe2478a73ad", "no grant of "+strings.Repeat("x", 20))
	require.NoError(t, l.Flush(""))
	require.Equal(t, "id\n  01a2027b-5a72-74ae-a057-8fe2478a73ad\nerror\n  no grant of\n  xxxxxxxxxxxxxxxxxx\n  xx\n",
		out.String())
}

// Wide characters take two columns, and accents that are set above another none.
func TestTablesCountColumns(t *testing.T) {
	table := func(width int) string {
		var out bytes.Buffer
		l := NewTable(&out, "ID", "SUBJECT", "STATE")
		l.width = width
		l.Row("1", "請求書のお知らせ", "done")
		l.Row("2", "cafe\u0301 🎉 plan nine", "done")
		require.NoError(t, l.Flush(""))
		return out.String()
	}
	require.Equal(t, "ID  SUBJECT            STATE\n1   請求書のお知らせ   done\n2   cafe\u0301 🎉 plan nine  done\n", table(28))
	require.Equal(t, "ID  SUBJECT       STATE\n1   請求書のお…   done\n2   cafe\u0301 🎉 pla…  done\n", table(23))
	require.Equal(t, "請求書…", Short("請求書のお知らせ", 8))
}

// The last column is cut first, and names, times and numbers never: people copy them.
func TestTablesAreCut(t *testing.T) {
	table := func(out *bytes.Buffer) string {
		l := NewTable(out, "ID", "WHEN", "FROM", "SUBJECT")
		l.Row(ShortID("01a2027b-5a72-74ae-a057-8fe2478a73ad"), "2026-03-01 12:00",
			strings.Repeat("f", 30), strings.Repeat("s", 100))
		require.NoError(t, l.Flush(""))
		return out.String()
	}
	t.Setenv("COLUMNS", "")
	require.Equal(t, "ID        WHEN              FROM                            SUBJECT\n478a73ad  2026-03-01 12:00  "+
		strings.Repeat("f", 30)+"  "+strings.Repeat("s", 19)+"…\n", table(new(bytes.Buffer)))
	t.Setenv("COLUMNS", "200")
	require.Contains(t, table(new(bytes.Buffer)), strings.Repeat("s", 100))
	require.Equal(t, "17f3", ShortID("17f3"), "an id of Gmail")
	require.Equal(t, "2026-03-01 12:00", Minute(time.Date(2026, 3, 1, 12, 0, 59, 0, time.Local)))
	require.Empty(t, Minute(time.Time{}))
}

func TestCount(t *testing.T) {
	require.Equal(t, "0 actions wait", Count(0, "action waits", "actions wait"))
	require.Equal(t, "1 action waits", Count(1, "action waits", "actions wait"))
	require.Equal(t, "2 actions wait", Count(int64(2), "action waits", "actions wait"))
}
