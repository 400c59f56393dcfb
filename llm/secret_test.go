package llm_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
)

func TestSecretIsNotShown(t *testing.T) {
	const key = llm.Secret("sk-0123")
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "key", key)
	_, err := fmt.Fprintf(&b, "%v %+v %#v %s %q", key, key, key, key, struct{ Key llm.Secret }{key})
	require.NoError(t, err)
	encoded, err := json.Marshal(map[string]any{"key": key})
	require.NoError(t, err)
	require.NotContains(t, b.String()+string(encoded), "0123")
	require.Empty(t, llm.Secret("").String())
}
