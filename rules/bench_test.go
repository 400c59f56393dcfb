package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
)

// mixedConditions are rules as people have them, by number.
var mixedConditions = []func(i int) rules.Condition{
	func(i int) rules.Condition {
		return rulestest.Predicate(rules.SenderEmail, fmt.Sprintf("person%d@firm%d.example", i, i))
	},
	func(i int) rules.Condition { return rulestest.FromDomain(fmt.Sprintf("shop%d.example", i)) },
	func(i int) rules.Condition {
		return rulestest.Predicate(rules.SubjectContains, fmt.Sprintf("offer %d for", i))
	},
	func(i int) rules.Condition {
		return rulestest.Predicate(rules.SubjectRegex, fmt.Sprintf(`(?i)\border #?%d\b`, i))
	},
	func(i int) rules.Condition {
		return rulestest.Predicate(rules.BodyContains, fmt.Sprintf("contract number %d", i))
	},
	func(i int) rules.Condition {
		return rulestest.Predicate(rules.BodyRegex, fmt.Sprintf(`(?i)ticket[ -]project%d-\d+`, i))
	},
	func(i int) rules.Condition { return rulestest.Header("List-Id", fmt.Sprintf(`<list%d\.`, i)) },
	func(i int) rules.Condition {
		return rules.Condition{Type: rules.Address, Fields: []string{"recipients"}, Part: "detail",
			Value: fmt.Sprintf("tag%d", i)}
	},
	func(i int) rules.Condition {
		return rules.AllOf(rulestest.Predicate(rules.HasAttachment, ""),
			rulestest.Predicate(rules.LargerThan, fmt.Sprintf("%dKB", 1000+i)),
			rulestest.FromDomain(fmt.Sprintf("files%d.example", i)))
	},
	func(i int) rules.Condition {
		return rules.AllOf(
			rules.AnyOf(rulestest.Predicate(rules.SubjectContains, fmt.Sprintf("invoice %d", i)),
				rulestest.Predicate(rules.SenderEmail, fmt.Sprintf("*@billing%d.example", i))),
			rules.NoneOf(rulestest.Predicate(rules.LabelPresent, "STARRED")),
		)
	},
}

func mixedRules(n int) []rules.Rule {
	list := make([]rules.Rule, n)
	for i := range list {
		list[i] = rules.NewRule(fmt.Sprintf("rule %d", i), mixedConditions[i%len(mixedConditions)](i), postroom.Archive, nil)
		list[i].ID = fmt.Sprintf("%06d", i)
	}
	return list
}

// newsletter is a message of some 2 KB, which none of the mixed rules matches.
func newsletter() *postroom.Message {
	msg := letter()
	msg.BodyHTML = ""
	msg.BodyPlain = strings.Repeat(
		"The order of the day is a contract, a ticket and an invoice; the offer for the list stands.\n", 22)
	for i := range 30 {
		msg.Headers = append(msg.Headers, postroom.Header{Name: fmt.Sprintf("X-Header-%d", i),
			Value: "some value of ordinary length"})
	}
	return msg
}

func benchmarkRules(b *testing.B, msg *postroom.Message, list []rules.Rule) {
	b.Helper()
	set := rules.NewSet(list, nil)
	require.Empty(b, set.Broken())
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := set.First(msg, now); ok {
			b.Fatal("no rule is meant to match")
		}
	}
}

// No rule matches, so that all of them are ruled out.
func BenchmarkRules(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("%d mixed", n), func(b *testing.B) { benchmarkRules(b, newsletter(), mixedRules(n)) })
	}
	html := newsletter()
	html.BodyHTML = "<html><body><p>" + strings.ReplaceAll(html.BodyPlain, "\n", "</p><p>") + "</p></body></html>"
	b.Run("10000 mixed, HTML", func(b *testing.B) { benchmarkRules(b, html, mixedRules(10_000)) })
}

func BenchmarkRules10k(b *testing.B) { benchmarkRules(b, newsletter(), mixedRules(10_000)) }

// A thousand regular expressions on the body.
func BenchmarkBodyRegex1k(b *testing.B) {
	list := make([]rules.Rule, 1000)
	for i := range list {
		list[i] = rules.NewRule(fmt.Sprintf("rule %d", i),
			rulestest.Predicate(rules.BodyRegex, fmt.Sprintf(`(?i)\bcase\s+no\. ?%d\b`, i)), postroom.Archive, nil)
	}
	benchmarkRules(b, newsletter(), list)
}

// Ten thousand rules that have a word in common, which the message has as well.
func BenchmarkSharedWord10k(b *testing.B) {
	msg := newsletter()
	msg.Subject = "Your order 712044 is on its way"
	for name, of := range map[string]func(i int) rules.Condition{
		"regex": func(i int) rules.Condition {
			return rulestest.Predicate(rules.SubjectRegex, fmt.Sprintf(`order #?%04d[0-9]x`, i))
		},
		"contains": func(i int) rules.Condition {
			return rulestest.Predicate(rules.SubjectContains, fmt.Sprintf("order %04dx", i))
		},
		"and": func(i int) rules.Condition {
			return rules.AllOf(rulestest.Predicate(rules.SubjectContains, "order"),
				rulestest.Predicate(rules.SubjectContains, fmt.Sprintf("%04dx", i)))
		},
	} {
		list := make([]rules.Rule, 10_000)
		for i := range list {
			list[i] = rules.NewRule(fmt.Sprintf("rule %d", i), of(i), postroom.Archive, nil)
		}
		b.Run(name, func(b *testing.B) { benchmarkRules(b, msg, list) })
	}
}

func BenchmarkNewSet10k(b *testing.B) {
	list := mixedRules(10_000)
	for b.Loop() {
		rules.NewSet(list, nil)
	}
}
