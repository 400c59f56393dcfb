package dbvalue_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbvalue"
)

func TestClean(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"plain text":    {"Grüße, 世界\n", "Grüße, 世界\n"},
		"empty":         {"", ""},
		"NUL":           {"a\x00b", "a\uFFFDb"},
		"invalid bytes": {"a\xff\xfeb", "a\uFFFD\uFFFDb"},
		"a cut rune":    {"\xe4\xb8", "\uFFFD\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, dbvalue.Clean(test.text))
			require.Equal(t, test.want, dbvalue.Clean(test.want), "cleaning twice changes nothing")
		})
	}
}

func TestNumber(t *testing.T) {
	require.Equal(t, 1, dbvalue.Number(true))
	require.Equal(t, 0, dbvalue.Number(false))
}
