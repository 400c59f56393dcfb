package compose

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Marks take nothing away, and a text that is marked stays as it is.
func FuzzMark(f *testing.F) {
	f.Add("At 14:00 on 7. März 2026, 1.200,00 € to a@b.example, tea.com/x", "2 pm, 2026-03-07, 1'200.5")
	f.Add("12-", "1.2.3/4–5 00 000 h 7月8日")
	f.Fuzz(func(t *testing.T, text, known string) {
		if strings.Contains(strings.ToLower(text), "[check:") {
			t.Skip("marked before")
		}
		plain := unseen.ReplaceAllString(text, "$1")
		got := mark(text, known)
		bare := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "[check: ", ""), "]", "") }
		require.Equal(t, bare(plain), bare(got))
		require.Equal(t, got, mark(got, known), "again")
	})
}
