package suggest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/suggest"
)

func TestNearest(t *testing.T) {
	names := []string{"archive", "star", "APP_PORT"}
	for word, want := range map[string]string{
		"archiv": "archive", "Archive": "archive", "satr": "star", "APP_PROT": "APP_PORT", "app_port": "APP_PORT",
		"delete": "", "": "", strings.Repeat("archive", 100): "",
	} {
		require.Equal(t, want, suggest.Nearest(word, names), word)
	}
}

func TestInstead(t *testing.T) {
	require.Equal(t, "did you mean star?", suggest.Instead("stra", []string{"star", "none"}, "the actions are"))
	require.Equal(t, "the actions are star, none", suggest.Instead("wibble", []string{"star", "none"}, "the actions are"))
}
