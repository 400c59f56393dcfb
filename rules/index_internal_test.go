package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
)

// Characters that are equal for one of the matches have one normal form.
func TestNormalFormIsCoarserThanEachMatch(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		form := canonical(r)
		if form != canonical(unicode.ToLower(r)) || form != canonical(unicode.SimpleFold(r)) || form != foldRune(r) {
			t.Fatalf("%U", r)
		}
	}
}

// said writes the literals of a clue as a formula.
func said(c clue) string {
	if c.op == "" {
		return c.text
	}
	parts := make([]string, len(c.parts))
	for i, part := range c.parts {
		if parts[i] = said(part); part.op != "" {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, map[Op]string{And: " & ", Or: " | "}[c.op])
}

func TestRequiredLiterals(t *testing.T) {
	for pattern, want := range map[string]string{
		`order`:                       "order",
		`(?i)\bORDER #?\d+ shipped\b`: "order & shipped",
		`ab+c`:                        "a & b & c",
		`(abc)+d`:                     "abc & d",
		`(abc)*`:                      "",
		`(abc)?de`:                    "de",
		`(?:cat|dog) food`:            "(cat | dog) & food",
		`cat|dog`:                     "cat | dog",
		`cat|dog?|.`:                  "",
		`cat\d+x|dog`:                 "(cat & x) | dog",
		`(?i)straße`:                  "stra" + string(canonical('ß')) + "e",
		`\d{5}`:                       "",
		`x{2,3}`:                      "x",
		`x{0,3}y`:                     "y",
		`a \n b`:                      "a b",
		` `:                           "",
		`^$`:                          "",
		`[ab]cd`:                      "cd",
	} {
		require.Equal(t, want, said(regexClue(0, pattern)), pattern)
	}
	require.Equal(t, "a & long & b", said(wildcardClue(0, `*a?LONG*b`)))
	require.Equal(t, `a*b`, said(wildcardClue(0, `a\*b?`)))

	words := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = string([]rune{'a' + rune(i%8), 'x', 'a' + rune(i/8)}) // no two of which are written as a class
		}
		return strings.Join(list, "|")
	}
	require.NotEmpty(t, said(regexClue(0, words(maxAlternatives))))
	require.Empty(t, said(regexClue(0, words(maxAlternatives+1))))
	require.Equal(t, "order", said(regexClue(0, "(?:"+words(maxAlternatives+1)+") order")))
}

func TestACensusCountsEachRuleOnce(t *testing.T) {
	clues := []clue{regexClue(0, "order.*order"), regexClue(0, "order|sale"), regexClue(1, "order")}
	c := takeCensus(clues)
	require.EqualValues(t, 2, c[needle{aLiteral, 0, "order"}].rules)
	require.EqualValues(t, 1, c[needle{aLiteral, 0, "sale"}].rules)
	require.EqualValues(t, 1, c[needle{aLiteral, 1, "order"}].rules)
}

// tried is the number of rules that the index has tried with a message that none of them matches.
func tried(t *testing.T, list []Rule, msg *postroom.Message) int {
	t.Helper()
	set := NewSet(list, nil)
	require.Empty(t, set.Broken())
	s := &search{}
	s.view.reset(set.code, msg, time.Time{}, &Facts{})
	s.start(set.index)
	n := 0
	for i := s.next(set.index, 0); i >= 0; i = s.next(set.index, i+1) {
		require.False(t, set.rules[i].matches(&s.view), set.rules[i].rule.Name)
		n++
	}
	return n
}

// Of rules that have a word in common, only those are tried of which the message has what is their own.
func TestWhatManyRulesShareFindsNone(t *testing.T) {
	const rules = 10_000
	leaf := func(kind Kind, value string) Condition { return Condition{Type: kind, Value: value} }
	msg := &postroom.Message{
		From: postroom.Address{Email: "shop@mail.example"}, Subject: "Your order 71042 is on its way",
		BodyPlain: "The order with the number 71042 has left us.", LabelIDs: []string{"INBOX"},
		Headers: []postroom.Header{{Name: "List-Id", Value: "<orders.shop.example>"}},
	}
	for name, of := range map[string]func(i int) Condition{
		"a regex": func(i int) Condition { return leaf(SubjectRegex, fmt.Sprintf(`(?i)order #?%05dx`, i)) },
		"alternatives of a regex": func(i int) Condition {
			return leaf(SubjectRegex, fmt.Sprintf(`order #?%05dx|parcel no\. ?%05dx`, i, i))
		},
		"a wildcard": func(i int) Condition {
			return Condition{Type: Subject, Match: Wildcard, Value: fmt.Sprintf("*order*%05dx*", i)}
		},
		"a regex on the body": func(i int) Condition { return leaf(BodyRegex, fmt.Sprintf(`order\s+#?%05dx`, i)) },
		"values": func(i int) Condition {
			return Condition{Type: SubjectRegex, Values: []string{fmt.Sprintf(`order #?%05dx`, i), fmt.Sprintf(`way #?%05dx`, i)}}
		},
		"and": func(i int) Condition {
			return AllOf(leaf(SubjectContains, "order"), leaf(SubjectContains, fmt.Sprintf("%05dx", i)))
		},
		"a domain": func(i int) Condition {
			return AllOf(leaf(SenderDomain, "mail.example"), leaf(SubjectContains, fmt.Sprintf("no. %d", i)))
		},
		"a header": func(i int) Condition {
			return AllOf(Condition{Type: HeaderPresent, Header: "List-Id"}, leaf(SubjectContains, fmt.Sprintf("%05dx", i)))
		},
		"a label": func(i int) Condition {
			return AllOf(leaf(LabelPresent, "INBOX"), leaf(SubjectRegex, fmt.Sprintf("^%05dx", i)))
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
func TestTheScopeIsOneClueAmongOthers(t *testing.T) {
	list := make([]Rule, 1000)
	for i := range list {
		list[i] = NewRule("r", Condition{Type: SubjectContains, Value: fmt.Sprintf("no. %d", i)}, postroom.Archive, nil)
		list[i].Scope, list[i].ScopeRef = ScopeDomain, "mail.example"
	}
	msg := &postroom.Message{From: postroom.Address{Email: "a@mail.example"}, Subject: "no. x"}
	require.Zero(t, tried(t, list, msg))
	require.Zero(t, tried(t, list[:1], &postroom.Message{Subject: "no. 0"}), "one rule alone is found by its scope")
}

// The automaton finds what looking for each pattern finds.
func TestAutomatonFindsEachPattern(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{1,6}`)
		list := rapid.SliceOfNDistinct(word, 1, 40, rapid.ID).Draw(t, "patterns")
		text := rapid.StringMatching(`[abcd]{0,9}`).Draw(t, "text")
		want := map[int32]bool{}
		for i, p := range list {
			if strings.Contains(text, p) {
				want[int32(i)] = true
			}
		}
		got := map[int32]bool{}
		newAutomaton(list).scan([]byte(text), func(p int32) bool {
			fresh := !got[p]
			got[p] = true
			return fresh
		})
		require.Equal(t, want, got)
	})
}

// So it does when it has more states than rows.
func TestAutomatonWithManyPatterns(t *testing.T) {
	var list []string
	for _, first := range "abcdefghij" {
		for _, second := range "abcdefghij" {
			for _, third := range "abcdefghij" {
				list = append(list, "x"+string([]rune{first, second, third, 'y', first}))
			}
		}
	}
	a := newAutomaton(list)
	require.Greater(t, len(a.out), denseStates)
	found := []string{}
	a.scan([]byte("..xabxabcyaxjjjyjxaaayxaaaya"), func(p int32) bool {
		found = append(found, list[p])
		return true
	})
	require.Equal(t, []string{"xabcya", "xjjjyj", "xaaaya"}, found)
}
