package mcp_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/mcp"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/queue"
)

// A caller of one mailbox learns no ids of another by their beginnings.
func TestBeginningsOfIDsTellNothingOfOtherMailboxes(t *testing.T) {
	const other = "bob@example.org"
	w := newWorld(t, mcp.Caller{Name: "test", Propose: true}, mail("ann@example.com", "Tea", "At five?", true),
		mail("ann@example.com", "More tea", "At six?", true))
	for _, id := range w.find("from:ann") {
		star := args{"messages": []string{id}, "action": "star", "why": "tea"}
		require.NoError(t, w.call("action_propose", star, &proposals{}))
	}
	account, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	m, err := w.app.FindMessage(t.Context(), account, w.find("from:ann")[0])
	require.NoError(t, err)
	var list struct{ Actions []mcp.Action }
	require.NoError(t, w.call("actions_list", args{}, &list))
	require.NotEmpty(t, list.Actions)
	action := list.Actions[0].ID
	require.NoError(t, w.call("action_show", args{"id": action[len(action)-8:]}, &mcp.Action{}), "all mailboxes")

	require.NoError(t, w.app.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := w.app.EnsureAccount(ctx, tx, other)
		return err
	}))
	w.ClientSession = w.connect(mcp.Caller{Name: "stranger", Mailboxes: []string{other}})
	for name, call := range map[string]struct {
		tool string
		in   args
	}{
		"a message":         {"mail_read", args{"id": m.ID[:3]}},
		"one message":       {"mail_read", args{"id": m.ID[len(m.ID)-8:]}},
		"an action":         {"action_show", args{"id": action[:3]}},
		"one action":        {"action_show", args{"id": action[len(action)-8:]}},
		"a whole one":       {"action_show", args{"id": action}},
		"a page":            {"actions_list", args{"before": action[:3]}},
		"a page before one": {"actions_list", args{"before": action}},
	} {
		err := w.call(call.tool, call.in, nil)
		require.Regexp(t, "there is no action|has no message", err, name)
		require.NotContains(t, err.Error(), "could be", name)
	}
	w.ClientSession = w.connect(mcp.Caller{Name: "owner", Mailboxes: []string{sample.Owner}})
	require.NoError(t, w.call("action_show", args{"id": action}, &mcp.Action{}))
	require.NoError(t, w.call("actions_list", args{"before": action}, &list))
}
