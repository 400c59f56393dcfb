package app

import (
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/queue"
	"github.com/stretchr/testify/require"
)

// TestReadinessNamesEachMailboxThatFails, with its reason.
func TestReadinessNamesEachMailboxThatFails(t *testing.T) {
	h := openTestApp(t, "rules: 7")
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := h.Mail.EnsureAccount(ctx, tx, "ann@example.com")
		return err
	}))
	var ready Readiness
	tender := NewSupervisor(h, &ready)
	require.NoError(t, tender.look(t.Context(), true))
	tender.setting.Wait()
	require.NoError(t, tender.look(t.Context(), false))
	why := h.NotReady(t.Context(), &ready)
	require.Regexp(t, `(?m)^`+regexp.QuoteMeta(sample.Owner)+`: .*rules\.yaml:1:8: `, why)
	require.Regexp(t, `(?m)^ann@example\.com: no access here: `, why)
}

func TestReadinessIsReachedOnce(t *testing.T) {
	var r Readiness
	require.Equal(t, "they are being looked for", r.missing()[0].what)
	r.fails(errors.New("no database"))
	require.Equal(t, "no database", r.missing()[0].what)
	r.fails(nil)
	r.awaits("two", " is being set up", "")
	r.awaits("one", " is being set up", "7")
	r.awaitsOnly([]string{"one", "two"})
	require.Equal(t, []awaited{{"one", " is being set up", "7"}, {"two", " is being set up", ""}}, r.missing())
	r.awaitsOnly([]string{"two"})
	require.Equal(t, []awaited{{"two", " is being set up", ""}}, r.missing())
	r.awaitsOnly(nil)
	require.Empty(t, r.missing())
	r.awaits("three", " is being set up", "")
	r.awaitsOnly([]string{"three"})
	r.fails(errors.New("no database"))
	require.Empty(t, r.missing(), "it goes on with what is set up")
	r.stops()
	require.Equal(t, "postroomd stops", r.missing()[0].what)
	r.awaitsOnly(nil)
	require.Equal(t, "postroomd stops", r.missing()[0].what)
}
