package escalation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/escalation"
)

func TestAKindWithoutServiceDescribesOnly(t *testing.T) {
	for _, of := range []func() *escalation.Service{nil, func() *escalation.Service { return nil }} {
		k := escalation.Kind(of)
		kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{k}})
		require.NoError(t, err)
		require.Equal(t, postroom.Reversible, kinds.Danger(postroom.Escalate))
		_, err = k.Handler(t.Context(), nil, postroom.Action{})
		require.ErrorContains(t, err, "no Service")
		_, err = k.Undo(t.Context(), nil, postroom.Action{})
		require.ErrorContains(t, err, "no Service")
	}
}

func TestTheConfigIsChecked(t *testing.T) {
	_, err := escalation.New(escalation.Config{Label: "a/"})
	for _, field := range []string{"Config.Store", "Config.Clients"} {
		require.ErrorContains(t, err, field)
	}
}
