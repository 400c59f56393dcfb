package ruledraft_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

var about = rules.Condition{Type: rules.SubjectContains, Value: "tea"}

// proved is a message whose sender is verified.
func proved(email string) *postroom.Message {
	m := from(email)
	m.Headers = []postroom.Header{
		{Name: "Received", Value: "from out.example.org by mx.google.com with ESMTPS id y; Sun, 1 Mar 2026 01:29:58 -0800"},
		{Name: "Authentication-Results", Value: "mx.google.com; dmarc=pass header.from=example.org"},
	}
	return m
}

// A rule that is changed does what was asked with all that it takes, and nothing else.
func TestARuleIsChanged(t *testing.T) {
	rule := rules.NewRule("Tea", about, postroom.Move, postroom.Parameters{postroom.ParamLabel: "Tea"})
	rule.Also = []rules.RuleAction{{Type: postroom.MarkRead}}
	rule.Schedule = rules.Schedule{LabelOnlyUntil: "2026-03-01", Zone: "Europe/Berlin"}
	changed, err := ruledraft.Change(rule, ruledraft.Order{Action: postroom.Star})
	require.NoError(t, err)
	require.Equal(t, []rules.RuleAction{{Type: postroom.Star}}, changed.Actions())
	require.Equal(t, rules.Schedule{}, changed.Schedule, "it has no label that it could begin with")
	require.NoError(t, changed.Validate(nil))
	changed, err = ruledraft.Change(rule, ruledraft.Order{Action: postroom.ApplyLabel, Label: " Cups "})
	require.NoError(t, err)
	require.Equal(t, postroom.Parameters{postroom.ParamLabel: "Cups"}, changed.Parameters)
	require.Equal(t, rule.Schedule, changed.Schedule)
	_, err = ruledraft.Change(changed, ruledraft.Order{Action: postroom.ApplyLabel, Label: "Cups"})
	require.ErrorContains(t, err, "does that already")
	for _, kind := range []postroom.ActionType{"", postroom.Delete, postroom.Forward, postroom.Move} {
		_, err = ruledraft.Change(rule, ruledraft.Order{Action: kind})
		require.ErrorAs(t, err, new(usage.Error), kind)
	}
}

// An exception leaves mail like the message out, of verified senders alone if the message is, and all else in.
func TestAnExceptionLeavesLikeMailOut(t *testing.T) {
	rule := rules.NewRule("Tea", about, postroom.Archive, nil)
	changed, like, err := ruledraft.Except(rule, from("ada@example.org"), "")
	require.NoError(t, err)
	ada := rules.Condition{Type: rules.SenderEmail, Value: "ada@example.org"}
	require.Equal(t, ada, like)
	require.Equal(t, rules.AllOf(about, rules.NoneOf(ada)), changed.Condition)
	_, _, err = ruledraft.Except(changed, from("ada@example.org"), ruledraft.AboutSender)
	require.ErrorContains(t, err, "already")

	changed, _, err = ruledraft.Except(changed, proved("bob@example.org"), ruledraft.AboutDomain)
	require.NoError(t, err)
	domain := rules.Condition{Type: rules.SenderDomain, Value: "example.org"}
	require.Equal(t, rules.AllOf(about, rules.NoneOf(ada),
		rules.NoneOf(rules.AllOf(domain, rules.Condition{Type: rules.Authenticated}))), changed.Condition)
	require.NoError(t, changed.Validate(nil))

	rule.SafeMode = postroom.SafeDangerousOverride
	require.False(t, rule.RequiresAuthentication())
	changed, _, err = ruledraft.Except(rule, from("ada@example.org"), "")
	require.NoError(t, err)
	require.False(t, changed.RequiresAuthentication(), "it takes what it took")
}

// A rule that is about such mail alone has nothing left, and there is no exception for what a message does not have.
func TestAnExceptionIsRefused(t *testing.T) {
	ada := rules.Condition{Type: rules.SenderEmail, Value: "ada@example.org"}
	scoped := rules.NewRule("Tea", about, postroom.Archive, nil)
	scoped.Scope, scoped.ScopeRef = rules.ScopeSender, "ada@example.org"
	for _, rule := range []rules.Rule{rules.NewRule("Tea", ada, postroom.Archive, nil), scoped,
		rules.NewRule("Tea", rules.AllOf(about, ada), postroom.Archive, nil)} {
		_, _, err := ruledraft.Except(rule, from("ada@example.org"), ruledraft.AboutSender)
		require.ErrorAs(t, err, new(usage.Error))
		require.ErrorContains(t, err, "would have none left")
	}
	for _, as := range []ruledraft.About{ruledraft.AboutList, "planet"} {
		_, _, err := ruledraft.Except(rules.NewRule("Tea", about, postroom.Archive, nil), from("ada@example.org"), as)
		require.ErrorAs(t, err, new(usage.Error), as)
	}
}

// A test says what must be done with a message, whether it is or not, and is one test however often that changes.
func TestAnExpectationIsATest(t *testing.T) {
	tea := letterOf("tea", "secret")
	expects := func(file *rulesfile.File, kind postroom.ActionType) (*rulesfile.File, rulesfile.TestResult) {
		file, test, err := ruledraft.Expect(file, ruledraft.Expectation{Mark: ruledraft.Mark{Message: tea},
			Actions: []rules.RuleAction{{Type: kind}}}, nil)
		require.NoError(t, err)
		require.Len(t, file.Tests, 1)
		return file, file.Test([]rulesfile.Test{test}, nil)[0]
	}
	file, result := expects(fileOf(t), postroom.Archive)
	require.True(t, result.Passed(), result.String())
	require.Equal(t, 1, strings.Count(file.Source, "secret"), "the rule that has it reads the text")
	_, result = expects(file, postroom.Star)
	require.False(t, result.Passed())
	require.Contains(t, result.String(), "expected star, got archive")

	urgent := letterOf("plain", "secret")
	urgent.Headers = []postroom.Header{{Name: "X-Urgent", Value: "yes"}}
	file, test, err := ruledraft.Expect(fileOf(t), ruledraft.Expectation{Mark: ruledraft.Mark{Message: urgent},
		Without: "Plain"}, nil)
	require.NoError(t, err)
	result = file.Test([]rulesfile.Test{test}, nil)[0]
	require.True(t, result.Passed(), result.String())
	require.NotContains(t, file.Source, "secret")
	_, _, err = ruledraft.Expect(file, ruledraft.Expectation{
		Mark: ruledraft.Mark{Message: letterOf("tea", strings.Repeat("x", 30<<10))}}, nil)
	require.ErrorAs(t, err, new(usage.Error))
}
