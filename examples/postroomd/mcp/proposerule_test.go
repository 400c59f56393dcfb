package mcp_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/mcp"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

const teaRules = "rules: [{name: Tea, condition: {type: subject_contains, value: tea}, action: %s}]"

type ruleProposal struct {
	Session, State string
	Changes        []string
	Tried, Differs int
}

// A proposal of rules is tried and stored, and changes nothing until a person accepts it.
func TestAnAssistantProposesRules(t *testing.T) {
	w := newWorld(t, mcp.Caller{Name: "desk", Propose: true}, mail("ann@example.com", "Tea", "At five?", true),
		mail("bob@example.com", "Lunch", "At noon?", true))
	var p ruleProposal
	archive := args{"rules": fmt.Sprintf(teaRules, "archive"), "why": "Tea [x](http://x)"}
	require.NoError(t, w.call("rule_propose", archive, &p))
	require.Equal(t, "waits for a person", p.State)
	require.Equal(t, []int{2, 1}, []int{p.Tried, p.Differs})
	require.Contains(t, p.Changes[0], "Tea")
	stored, err := w.app.Rules.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, stored, "never active by itself")

	talk, err := w.app.ResumeTalk(t.Context(), p.Session)
	require.NoError(t, err)
	require.Equal(t, []string{"mcp::desk", sample.Owner}, []string{talk.Session.By, talk.Account.Email})
	said, err := talk.Messages(t.Context())
	require.NoError(t, err)
	require.Regexp(t, "Tried on 2 stored messages since .*: it decides otherwise about 1", said[0].Text)
	_, _, err = talk.Accept(t.Context(), "ann", 1)
	require.NoError(t, err)
	stored, err = w.app.Rules.List(t.Context())
	require.NoError(t, err)
	require.Len(t, stored, 1)

	for fault, in := range map[string]args{
		"why is empty":       {"rules": fmt.Sprintf(teaRules, "star"), "why": " "},
		"changes nothing":    {"why": "x"},
		"dangerous_override": {"rules": fmt.Sprintf(teaRules, "star, safe_mode: dangerous_override"), "why": "x"},
		"must be one of":     {"rules": fmt.Sprintf(teaRules, "star"), "why": "x", "mailbox": "eve@example.org"},
	} {
		require.ErrorContains(t, w.call("rule_propose", in, nil), fault)
	}
	for range 20 {
		require.NoError(t, w.call("rule_propose", args{"rules": fmt.Sprintf(teaRules, "star"), "why": "x"}, &p))
	}
	require.ErrorContains(t, w.call("rule_propose", args{"rules": fmt.Sprintf(teaRules, "star"), "why": "x"}, nil),
		"20 of mcp::desk wait")
	var calls int
	require.NoError(t, w.app.DB.Reader().Get(&calls, "SELECT COUNT(*) FROM assistant_calls WHERE tool = 'rule_propose'"))
	require.Equal(t, 26, calls)
}
