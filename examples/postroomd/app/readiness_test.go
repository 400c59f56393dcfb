package app

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

// TestReadinessNamesEachMailboxThatFails, with its reason.
func TestReadinessNamesEachMailboxThatFails(t *testing.T) {
	h := openTestApp(t, "rules: 7")
	_, err := h.AddAccount(t.Context(), "ann@example.com")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- h.Run(ctx) }()
	owner := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(sample.Owner) + `: .*rules\.yaml:1:8: `)
	require.Eventually(t, func() bool { return owner.MatchString(h.NotReady(ctx)) }, 5*time.Minute, 10*time.Millisecond)
	require.Regexp(t, `(?m)^ann@example\.com: no access here: `, h.NotReady(ctx))
	stop()
	require.NoError(t, <-ran)
}
