package ruleform_test

import (
	"errors"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/web/ruleform"
	"github.com/postroom-go/postroom/rules"
)

// A kind that is missing here could not be chosen, and a field that a kind does not take would be refused.
func TestTheFormHasEachKindOnce(t *testing.T) {
	var all []rules.Kind
	for _, group := range ruleform.Groups {
		for _, kind := range group.Kinds {
			all = append(all, kind.Name)
			form, err := ruleform.Read(sent(t, ruleform.Form{Condition: rules.Condition{Type: kind.Name}}, "show", "x", kind))
			require.NoError(t, err)
			for _, fault := range form.Condition.Faults() {
				ok := errors.Is(fault, rules.ErrBadValue) || errors.Is(fault, rules.ErrSurplusField) && fault.Path == "match"
				require.True(t, ok, "%s: %s", kind.Name, fault)
			}
		}
	}
	slices.Sort(all)
	require.Equal(t, rules.Kinds(), all)
}

// sent is what the form sends, with the text in each field of the root, which is of the kind.
func sent(t *testing.T, f ruleform.Form, do, text string, kind ruleform.Kind) url.Values {
	t.Helper()
	tree, err := f.Tree()
	require.NoError(t, err)
	values := url.Values{"name": {f.Name}, "tree": {tree}, "action": {string(f.Action)}, "label": {f.Label}, "do": {do}}
	for _, field := range kind.Fields {
		values.Set(field+" 0", text)
	}
	return values
}

func TestEachChangeOfTheTree(t *testing.T) {
	ada, bob := rules.Condition{Type: rules.To, Value: "ada"}, rules.Condition{Type: rules.To, Value: "bob"}
	fresh := rules.Condition{Type: rules.SenderEmail}
	for _, c := range []struct {
		do           string
		before, want rules.Condition
	}{
		{"add 0", rules.AllOf(ada), rules.AllOf(ada, fresh)},
		{"add 0.1", rules.AllOf(ada, rules.AnyOf(bob)), rules.AllOf(ada, rules.AnyOf(bob, fresh))},
		{"remove 0.0", rules.AllOf(ada, bob), rules.AllOf(bob)},
		{"not 0.1", rules.AllOf(ada, bob), rules.AllOf(ada, rules.NoneOf(bob))},
		{"any 0", ada, rules.AnyOf(ada)},
		{"all 0.0", rules.AnyOf(ada), rules.AnyOf(rules.AllOf(ada))},
		{"unwrap 0", rules.NoneOf(ada), ada},
		{"show", ada, ada},
	} {
		form, err := ruleform.Read(sent(t, ruleform.Form{Condition: c.before}, c.do, "", ruleform.Kind{}))
		require.NoError(t, err, c.do)
		require.Equal(t, c.want, form.Condition, c.do)
	}
	for _, do := range []string{"add 0", "add 1", "remove 0", "unwrap 0", "not 0.0", "not 0.-1", "not x", "burn 0"} {
		_, err := ruleform.Read(sent(t, ruleform.Form{Condition: ada}, do, "", ruleform.Kind{}))
		require.ErrorAs(t, err, new(usage.Error), do)
	}
}

// Another kind drops the fields that it does not have.
func TestAKindIsChanged(t *testing.T) {
	form := ruleform.Form{Condition: rules.Condition{Type: rules.Header, Header: "X-A", Value: "b", Match: rules.Contains}}
	values := sent(t, form, "show", "", ruleform.Kind{})
	values.Set("type 0", string(rules.HeaderPresent))
	form, err := ruleform.Read(values)
	require.NoError(t, err)
	require.Equal(t, rules.Condition{Type: rules.HeaderPresent, Header: "X-A"}, form.Condition)
}

func TestWhatAFormCannotShow(t *testing.T) {
	label := postroom.Parameters{postroom.ParamLabel: "Tea"}
	plain := rules.NewRule("Tea", rules.NoneOf(rules.Condition{Type: rules.To, Value: "ada"}), postroom.Move, label)
	form, shown := ruleform.Of(&plain)
	require.True(t, shown)
	again := plain
	form.Put(&again)
	require.Equal(t, plain, again)
	for name, change := range map[string]func(r *rules.Rule){
		"several actions": func(r *rules.Rule) { r.Also = []rules.RuleAction{{Type: postroom.Star}} },
		"what sends":      func(r *rules.Rule) { r.Action = postroom.Forward },
		"many values":     func(r *rules.Rule) { r.Condition = rules.Condition{Type: rules.To, Values: []string{"a", "b"}} },
		"an index":        func(r *rules.Rule) { r.Condition = rules.Condition{Type: rules.Header, Header: "A", Index: 2} },
		"more parameters": func(r *rules.Rule) { r.Action = postroom.Archive },
	} {
		odd := plain
		change(&odd)
		_, shown := ruleform.Of(&odd)
		require.False(t, shown, name)
	}
}

// An input loses the blanks at its ends and the ends of lines: what has such a text is edited as YAML.
func TestWhatAnInputCannotHoldIsNoForm(t *testing.T) {
	for text, shown := range map[string]bool{"tea": true, " tea": false, "tea ": false, "a\nb": false, "a\rb": false} {
		rule := rules.NewRule("Tea", rules.NoneOf(rules.Condition{Type: rules.SubjectContains, Value: text}), postroom.Star,
			nil)
		_, ok := ruleform.Of(&rule)
		require.Equal(t, shown, ok, "%q", text)
	}
}
