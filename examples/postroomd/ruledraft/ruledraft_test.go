package ruledraft_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules"
)

func from(email string) *postroom.Message {
	return &postroom.Message{From: postroom.Address{Email: email}}
}

func TestADraftIsAboutItsSender(t *testing.T) {
	order := ruledraft.Order{Action: postroom.Move, Label: " Shops ", Decider: &rules.Rule{Priority: 20}}
	rule, err := ruledraft.Of(from("Ada@Example.org"), order, nil)
	require.NoError(t, err)
	require.Equal(t, "Move mail of ada@example.org", rule.Name)
	require.Equal(t, rules.Condition{Type: rules.SenderEmail, Value: "ada@example.org"}, rule.Condition)
	require.Equal(t, postroom.Parameters{postroom.ParamLabel: "Shops"}, rule.Parameters)
	require.Equal(t, 19, rule.Priority, "it goes before the rule that decides now")
	require.False(t, rule.Continue)

	second, err := ruledraft.Of(from("ada@example.org"), order, []rules.Rule{rule})
	require.NoError(t, err)
	require.Equal(t, "Move mail of ada@example.org (2)", second.Name, "it replaces no other rule")

	order = ruledraft.Order{Action: postroom.Archive}
	plain, err := ruledraft.Of(from("ada@example.org"), order, nil)
	require.NoError(t, err)
	require.Equal(t, rules.DefaultPriority, plain.Priority)
}

// What rules after the decider did with such mail they still do, unless it is to be left alone. The decider is the last
// one that matches: those before it let others be tried.
func TestADraftLeavesMailToTheRulesAfterTheDecider(t *testing.T) {
	matched := func(priority int) rules.RuleExplanation {
		return rules.RuleExplanation{Rule: rules.Rule{Priority: priority, Continue: true}, Outcome: rules.Matched}
	}
	decider := ruledraft.DeciderOf(&rules.Explanation{Rules: []rules.RuleExplanation{matched(1), matched(2),
		{Rule: rules.Rule{Priority: 3}, Outcome: rules.NoMatch}}})
	require.Equal(t, 2, decider.Priority)
	require.Nil(t, ruledraft.DeciderOf(&rules.Explanation{}))
	for action, continues := range map[postroom.ActionType]bool{postroom.Archive: true, postroom.None: false} {
		rule, err := ruledraft.Of(from("ada@example.org"), ruledraft.Order{Action: action, Decider: decider}, nil)
		require.NoError(t, err)
		require.Equal(t, 1, rule.Priority)
		require.Equal(t, continues, rule.Continue, action)
	}
}

// A sender writes what is in From: it makes no rule about other senders, and none that deletes.
func TestADraftIsRefused(t *testing.T) {
	for _, email := range []string{"*@example.org", "", "nobody", "a b@example.org", "<a@example.org"} {
		_, err := ruledraft.Of(from(email), ruledraft.Order{Action: postroom.Archive}, nil)
		require.ErrorAs(t, err, new(usage.Error), email)
	}
	for _, order := range []ruledraft.Order{{Action: postroom.Delete}, {}, {Action: postroom.Move, Label: " "}} {
		_, err := ruledraft.Of(from("ada@example.org"), order, nil)
		require.ErrorAs(t, err, new(usage.Error), order)
	}
}

// Mail of a list is the list's, and what a sender has proved once it is asked for ever after.
func TestADraftIsAboutAList(t *testing.T) {
	m := from("ada@example.org")
	m.Headers = []postroom.Header{{Name: "List-Id", Value: "Tea <Tea.lists.example.org>"}}
	rule, err := ruledraft.Of(m, ruledraft.Order{Action: postroom.None}, nil)
	require.NoError(t, err)
	require.Equal(t, "Leave alone mail of tea.lists.example.org", rule.Name)
	require.Equal(t, rules.Condition{Type: rules.ListID, Value: "tea.lists.example.org"}, rule.Condition)
	require.Equal(t, rules.AuthenticationDefault, rule.Authentication)
	m.Headers = append([]postroom.Header{
		{Name: "Received", Value: "from out.example.org by mx.google.com with ESMTPS id y; Sun, 1 Mar 2026 01:29:58 -0800"},
		{Name: "Authentication-Results", Value: "mx.google.com; dmarc=pass header.from=example.org"},
	}, m.Headers...)
	rule, err = ruledraft.Of(m, ruledraft.Order{Action: postroom.None}, nil)
	require.NoError(t, err)
	require.Equal(t, rules.AuthenticationRequired, rule.Authentication)
	m.Headers[2].Value = "<*.example.org>"
	rule, err = ruledraft.Of(m, ruledraft.Order{Action: postroom.Archive}, nil)
	require.NoError(t, err)
	require.Equal(t, rules.SenderEmail, rule.Condition.Type)
}
