package mcp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/mcp"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// Rules are listed with what they did in the mailboxes of the caller, as the page lists them.
func TestRulesSayWhatTheyDid(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { rulesSayWhatTheyDid(t, "") })
	t.Run("postgres", func(t *testing.T) { rulesSayWhatTheyDid(t, dbtest.MigratedDSN(t)) })
}

func rulesSayWhatTheyDid(t *testing.T, database string) {
	const other = "bob@example.org"
	w := newWorldOn(t, database, mcp.Caller{Name: "test"})
	require.NoError(t, w.app.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		tea := rules.NewRule("Tea", rules.Condition{Type: rules.SubjectContains, Value: "tea"}, postroom.Star, nil)
		_, err := w.app.Rules.Create(ctx, tx, tea)
		return err
	}))
	listed := func(c mcp.Caller) mcp.Rule {
		w.ClientSession = w.connect(c)
		var list struct{ Rules []mcp.Rule }
		require.NoError(t, w.call("rules_list", args{}, &list))
		require.Len(t, list.Rules, 1)
		return list.Rules[0]
	}
	require.Zero(t, listed(mcp.Caller{Name: "test"}).Hits)
	for _, subject := range []string{"tea", "more tea", "lunch"} {
		_, err := w.gmail.Deliver(t.Context(), []byte(strings.ReplaceAll(mail("ann@example.com", subject, "At five?", true),
			"\n", "\r\n")))
		require.NoError(t, err)
	}
	w.work()
	done, err := w.app.Ledger.Actions(t.Context(), safety.Filter{Rule: "Tea"})
	require.NoError(t, err)
	require.Len(t, done, 2)
	_, err = w.app.Undoer.As("ada").Request(t.Context(), done[0].Action.ID)
	require.NoError(t, err)
	w.work()
	require.NoError(t, w.app.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := w.app.EnsureAccount(ctx, tx, other)
		return err
	}))
	rule := listed(mcp.Caller{Name: "test"})
	require.Equal(t, 2, rule.Hits)
	require.Equal(t, 1, rule.Undone)
	require.Equal(t, rule, listed(mcp.Caller{Name: "owner", Mailboxes: []string{sample.Owner}}))
	rule.Hits, rule.Undone = 0, 0
	require.Equal(t, rule, listed(mcp.Caller{Name: "stranger", Mailboxes: []string{other}}),
		"what it did elsewhere is not told")
}
