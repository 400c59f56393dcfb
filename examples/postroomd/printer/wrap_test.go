package printer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever the text and the width, no line is too long and no word is lost.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-zäß世]{0,30}[ \n]){0,12}[a-z]{0,90}`).Draw(t, "text")
		width := rapid.IntRange(1, 100).Draw(t, "width")
		lines := wrap(text, width)
		for _, line := range lines {
			require.LessOrEqual(t, columns(line), max(width, 2), "a wide character takes two columns")
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		require.Equal(t, squeeze(text), squeeze(strings.Join(lines, " ")))
	})
}
