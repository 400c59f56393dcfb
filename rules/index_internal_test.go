package rules

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

// tried is the number of rules that the index has tried with a message that none of them matches.
func tried(t *testing.T, list []Rule, msg *postroom.Message) int {
	t.Helper()
	set := NewSet(list, nil)
	require.Empty(t, set.Broken())
	s := &search{}
	v := &s.view
	v.reset(set.code, msg, time.Time{}, &Facts{})
	s.Start(set.index, v)
	n := 0
	for i := s.Next(set.index, v, 0); i >= 0; i = s.Next(set.index, v, i+1) {
		require.False(t, set.at(int(i)).matches(v), set.rules[i].Name)
		n++
	}
	return n
}

// Of rules that have a word in common, only those are tried of which the message has what is their own.
func TestWhatManyRulesShareFindsNone(t *testing.T) {
	const rules = 10_000
	predicate := func(kind Kind, value string) Condition { return Condition{Type: kind, Value: value} }
	msg := &postroom.Message{
		From: postroom.Address{Email: "shop@mail.example"}, Subject: "Your order 71042 is on its way",
		BodyPlain: "The order with the number 71042 has left us.", LabelIDs: []string{"INBOX"},
		Headers: []postroom.Header{{Name: "List-Id", Value: "<orders.shop.example>"}},
	}
	for name, of := range map[string]func(i int) Condition{
		"a regex": func(i int) Condition { return predicate(SubjectRegex, fmt.Sprintf(`(?i)order #?%05dx`, i)) },
		"alternatives of a regex": func(i int) Condition {
			return predicate(SubjectRegex, fmt.Sprintf(`order #?%05dx|parcel no\. ?%05dx`, i, i))
		},
		"a wildcard": func(i int) Condition {
			return Condition{Type: Subject, Match: Wildcard, Value: fmt.Sprintf("*order*%05dx*", i)}
		},
		"a regex on the body": func(i int) Condition { return predicate(BodyRegex, fmt.Sprintf(`order\s+#?%05dx`, i)) },
		"values": func(i int) Condition {
			return Condition{Type: SubjectRegex, Values: []string{fmt.Sprintf(`order #?%05dx`, i),
				fmt.Sprintf(`way #?%05dx`, i)}}
		},
		"and": func(i int) Condition {
			return AllOf(predicate(SubjectContains, "order"), predicate(SubjectContains, fmt.Sprintf("%05dx", i)))
		},
		"a domain": func(i int) Condition {
			return AllOf(predicate(SenderDomain, "mail.example"), predicate(SubjectContains, fmt.Sprintf("no. %d", i)))
		},
		"a header": func(i int) Condition {
			return AllOf(Condition{Type: HeaderPresent, Header: "List-Id"}, predicate(SubjectContains, fmt.Sprintf("%05dx", i)))
		},
		"a label": func(i int) Condition {
			return AllOf(predicate(LabelPresent, "INBOX"), predicate(SubjectRegex, fmt.Sprintf("^%05dx", i)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			list := make([]Rule, rules)
			for i := range list {
				list[i] = NewRule("r", of(i), postroom.Archive, nil)
			}
			require.LessOrEqual(t, tried(t, list, msg), 4)
		})
	}
}

// A scope that all rules have does not tell them apart either.
func TestTheScopeIsOneKeyAmongOthers(t *testing.T) {
	list := make([]Rule, 1000)
	for i := range list {
		list[i] = NewRule("r", Condition{Type: SubjectContains, Value: fmt.Sprintf("no. %d", i)}, postroom.Archive, nil)
		list[i].Scope, list[i].ScopeRef = ScopeDomain, "mail.example"
	}
	msg := &postroom.Message{From: postroom.Address{Email: "a@mail.example"}, Subject: "no. x"}
	require.Zero(t, tried(t, list, msg))
	require.Zero(t, tried(t, list[:1], &postroom.Message{Subject: "no. 0"}), "one rule alone is found by its scope")
}
