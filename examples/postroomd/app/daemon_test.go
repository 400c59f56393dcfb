package app

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAStopWhileItBeginsIsNoFault: systemd and containers stop a daemon whenever they like.
func TestAStopWhileItBeginsIsNoFault(t *testing.T) {
	h := openTestApp(t, "")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, h.Run(ctx))
}
