package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

func TestNewRefusalsNamesTheFault(t *testing.T) {
	_, err := NewRefusals(RefusalsConfig{MaxRecipients: 101})
	require.ErrorContains(t, err, "outbox: RefusalsConfig.Store")
	require.ErrorContains(t, err, "outbox: RefusalsConfig.MaxRecipients is 101; it must be within 1 and 100")
}

func TestKinds(t *testing.T) {
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: Kinds()})
	require.NoError(t, err)
	for _, a := range []postroom.Action{
		{Type: postroom.AutoReply, Parameters: postroom.Parameters{"body": "Yes."}},
		{Type: postroom.Forward, Parameters: postroom.Parameters{"to": []any{"a@example.com"}}},
	} {
		kind, err := kinds.Find(a.Type)
		require.NoError(t, err)
		require.Equal(t, postroom.Dangerous, kind.Danger)
		require.NoError(t, kind.CheckParameters(a.Parameters, time.Time{}))
		require.Error(t, kind.CheckParameters(nil, time.Time{}))
	}
}
