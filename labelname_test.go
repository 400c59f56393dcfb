package postroom_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

func TestCheckLabelName(t *testing.T) {
	for _, name := range []string{
		"Bills", "Bills/2026/March", "日本", "Größe", "می\u200cخواهم", "👩\u200d👧 Family", "drafts/old", "^x", strings.Repeat("é", 225), "Label_12",
	} {
		require.NoError(t, postroom.CheckLabelName(name), "%q", name)
	}
	tests := []struct{ name, label, want string }{
		{"empty", "", "blank"},
		{"blank", " \t", "blank"},
		{"blank at the end", "Bills ", "begins or ends with a blank"},
		{"too long", strings.Repeat("é", 226), "it has 226 characters and Gmail takes 225"},
		{"Gmail's own", "inBox", "the name is one of Gmail's own"},
		{"Gmail's own view", "All Mail", "the name is one of Gmail's own"},
		{"category", "category_social", "the name is one of Gmail's own"},
		{"slash at the start", "/Bills", "a slash nests labels"},
		{"slash at the end", "Bills/", "a slash nests labels"},
		{"two slashes", "Bills//2026", "a slash nests labels"},
		{"blank part", "Bills/ /2026", "a slash nests labels"},
		{"line end", "Bills\r\n2026", "U+000D"},
		{"NUL", "Bills\x00", "U+0000"},
		{"turned text", "Bills\u202etxt", "U+202E"},
		{"isolate", "Bills\u2066", "U+2066"},
		{"zero width", "Bil\u200bls", "U+200B"},
		{"line separator", "Bills\u2028 ", "begins or ends"},
		{"line separator within", "Bills\u2028x", "U+2028"},
		{"not UTF-8", "Bills\xff", "not UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := postroom.CheckLabelName(tt.label)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "\u202e", "an error is shown to people")
			require.Less(t, len(err.Error()), 400)
		})
	}
}
