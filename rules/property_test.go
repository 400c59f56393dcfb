package rules_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// anyText draws texts with characters whose case is special, and with blanks of all kinds.
func anyText(longest int) *rapid.Generator[string] {
	parts := []string{
		"a", "A", "k", "K", "\u212a", "s", "S", "\u017f", "σ", "ς", "Σ", "i", "I", "İ", "ı", "ß", "ẞ", "Ⱥ", "ⱥ", "\u00a0",
		" ", " ", "\n", "\t",
		"ab", "sale", "日", "\xff", "\ufffd", ".", "*", "?", "\\",
	}
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(parts), 1, longest), func(list []string) string {
		return strings.Join(list, "")
	})
}

// anyTextPredicate draws predicates that match texts.
func anyTextPredicate() *rapid.Generator[rules.Condition] {
	return rapid.Custom(func(t *rapid.T) rules.Condition {
		c := rules.Condition{Match: rapid.SampledFrom([]rules.Match{rules.Is, rules.Contains, rules.Wildcard,
			rules.Regex}).Draw(t, "match")}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			c.Type = rules.Subject
		case 1:
			c.Type = rules.Body
		case 2:
			c.Type, c.Header, c.Index = rules.Header, "X-Text", rapid.IntRange(-2, 2).Draw(t, "index")
		default:
			c.Type, c.Fields, c.Part = rules.Address, []string{"from"},
				rapid.SampledFrom([]string{"name", "local"}).Draw(t, "part")
		}
		c.CaseSensitive = c.Match != rules.Regex && rapid.Bool().Draw(t, "case")
		value := anyText(3)
		if c.Match == rules.Regex {
			value = rapid.Custom(func(t *rapid.T) string {
				literal, other := regexp.QuoteMeta(anyText(3).Draw(t, "literal")), regexp.QuoteMeta(anyText(2).Draw(t, "other"))
				form := rapid.SampledFrom([]string{"%s", "(?i)%s", "(?i)%s|%s", "(%s)+ *%s", "^(?i:%s)%s?", "(?:%s){2}|x%s",
					`%s\s%s`, "[a%s]%s"}).Draw(t, "form")
				return strings.ReplaceAll(strings.Replace(strings.Replace(form, "%s", literal, 1), "%s", other, 1), "\xff", "")
			})
		}
		valid := value.Filter(func(v string) bool {
			_, err := regexp.Compile(v)
			return strings.TrimSpace(v) != "" && (c.Match != rules.Regex || err == nil)
		})
		if n := rapid.SampledFrom([]int{1, 2, 10}).Draw(t, "values"); n > 1 {
			c.Values = rapid.SliceOfN(valid, n, n).Draw(t, "alternatives")
		} else {
			c.Value = valid.Draw(t, "value")
		}
		return c
	})
}

// The index never leaves out a rule that matches, whatever the case and the blanks of texts and values.
func TestTheIndexFindsEachTextThatMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText(8)
		msg := &postroom.Message{
			From:    postroom.Address{Name: text.Draw(t, "name"), Email: text.Draw(t, "local") + "@a.example"},
			Subject: text.Draw(t, "subject"), BodyPlain: text.Draw(t, "body"),
			Headers: []postroom.Header{{Name: "x-text", Value: text.Draw(t, "first")},
				{Name: "X-Text", Value: text.Draw(t, "second")}},
		}
		list := make([]rules.Rule, rapid.IntRange(1, 8).Draw(t, "rules"))
		want := []string{}
		for i := range list {
			list[i] = rules.NewRule("r", anyTextPredicate().Draw(t, "predicate"), postroom.Archive, nil)
			if list[i].ID = string(rune('a' + i)); rulestest.Matches(t, list[i].Condition, msg) {
				want = append(want, list[i].ID)
			}
		}
		got := []string{}
		for r := range rules.NewSet(list, nil).All(msg, now) {
			got = append(got, r.ID)
		}
		require.Equal(t, want, got)
	})
}

// sharingPredicate draws predicates that have words in common and numbers of their own, some of which are parts of
// others.
func sharingPredicate() *rapid.Generator[rules.Condition] {
	return rapid.Custom(func(t *rapid.T) rules.Condition {
		value := rapid.Custom(func(t *rapid.T) string {
			form := rapid.SampledFrom([]string{
				`order #?%d[0-9]`, `(?i)ORDER\s+%d|parcel %d`, `(?:order|parcel)+.*%d`, `\border\b.*\b%d\b`, `(order|sale) ?(%d|[a-z])`, `%d{1,2}$`,
			}).Draw(t, "form")
			return strings.ReplaceAll(form, "%d", rapid.SampledFrom([]string{"1", "12", "123", "77", "9"}).Draw(t, "number"))
		})
		c := rules.Condition{
			Type:  rapid.SampledFrom([]rules.Kind{rules.Subject, rules.Body}).Draw(t, "type"),
			Match: rapid.SampledFrom([]rules.Match{rules.Regex, rules.Wildcard, rules.Contains}).Draw(t, "match"),
		}
		switch c.Match {
		case rules.Wildcard:
			value = rapid.SampledFrom([]string{"*order*1*", "order ?2*", "*sale*", "*order*77", "?rder*9*parcel*"})
		case rules.Contains:
			value = rapid.SampledFrom([]string{"order", "order 1", "12", "sale 77", "parcel", "7"})
		}
		if rapid.Bool().Draw(t, "several") {
			c.Values = rapid.SliceOfN(value, 2, 3).Draw(t, "values")
		} else {
			c.Value = value.Draw(t, "value")
		}
		return c
	})
}

// The index chooses what it looks for by what rules have in common, and leaves out none that matches whatever it
// chooses.
func TestTheIndexFindsRulesThatShareWords(t *testing.T) {
	text := rapid.Map(rapid.SliceOfN(
		rapid.SampledFrom([]string{"order", "Order", "parcel", "sale", " ", " ", "#", "1", "12", "7", "9", "\n"}), 0, 10),
		func(words []string) string { return strings.Join(words, "") })
	condition := rapid.Custom(func(t *rapid.T) rules.Condition {
		children := rapid.SliceOfN(rapid.OneOf(sharingPredicate(), rulestest.AnyPredicate()), 1, 3).Draw(t, "predicates")
		if rapid.IntRange(0, 4).Draw(t, "not") == 0 {
			children[0] = rules.NoneOf(children[0])
		}
		return rules.Condition{Op: rapid.SampledFrom([]rules.Op{rules.And, rules.Or}).Draw(t, "op"), Children: children}
	})
	rapid.Check(t, func(t *rapid.T) {
		list := make([]rules.Rule, rapid.IntRange(1, 40).Draw(t, "rules"))
		for i := range list {
			list[i] = rules.NewRule("r", condition.Draw(t, "condition"), postroom.Archive, nil)
			list[i].ID = string(rune('A' + i))
		}
		set := rules.NewSet(list, nil)
		for range 5 {
			msg := rulestest.AnyMessage().Draw(t, "message")
			msg.Subject, msg.BodyPlain = text.Draw(t, "subject"), text.Draw(t, "body")
			want, got := []string{}, []string{}
			for i := range list {
				if rulestest.Matches(t, list[i].Condition, msg) {
					want = append(want, list[i].ID)
				}
			}
			for r := range set.All(msg, now) {
				got = append(got, r.ID)
			}
			require.Equal(t, want, got)
		}
	})
}

func TestAConditionSurvivesJSONAndYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rulestest.AnyCondition(3).Draw(t, "condition")
		data, err := json.Marshal(c)
		require.NoError(t, err)
		parsed, err := rules.ParseCondition(data)
		require.NoError(t, err)
		require.Equal(t, c, parsed)

		asYAML, err := yaml.JSONToYAML([]byte(`{"rules":[{"name":"r","action":"archive","condition":` + string(data) + `}]}`))
		require.NoError(t, err)
		file, err := rulesfile.Parse("r.yaml", strings.NewReader(string(asYAML)))
		require.NoError(t, err)
		require.Equal(t, c, file.Rules[0].Condition, "the YAML form is the same tree")
	})
}

// not (a and b) is (not a) or (not b), and the other way round: with the operators exchanged and the predicates
// negated, a tree says the opposite.
func TestDeMorgan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, msg := rulestest.AnyCondition(4).Draw(t, "condition"), rulestest.AnyMessage().Draw(t, "message")
		require.Equal(t, !rulestest.Matches(t, c, msg), rulestest.Matches(t, opposite(c), msg), c.String())
	})
}

func opposite(c rules.Condition) rules.Condition {
	if c.Op == "" {
		return rules.NoneOf(c)
	}
	if c.Op == rules.Not {
		return c.Children[0]
	}
	op := rules.And
	if c.Op == rules.And {
		op = rules.Or
	}
	children := make([]rules.Condition, len(c.Children))
	for i, child := range c.Children {
		children[i] = opposite(child)
	}
	return rules.Condition{Op: op, Children: children}
}

// A set finds what trying each rule in its order finds.
func TestASetDecidesAsTryingEachRuleInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(anyRule(), 0, 12).Draw(t, "rules")
		msg := rulestest.AnyMessage().Draw(t, "message")
		for i := range list {
			list[i].ID = string(rune('a' + i))
		}

		ordered := slices.Clone(list)
		slices.SortStableFunc(ordered, func(a, b rules.Rule) int {
			switch {
			case a.Priority != b.Priority:
				return a.Priority - b.Priority
			case a.Position != b.Position:
				return a.Position - b.Position
			case !a.CreatedAt.Equal(b.CreatedAt):
				return a.CreatedAt.Compare(b.CreatedAt)
			default:
				return strings.Compare(a.ID, b.ID)
			}
		})
		want := []string{}
		for _, r := range ordered {
			if r.Enabled && sees(&r, msg) && rulestest.Matches(t, r.Condition, msg) {
				want = append(want, r.ID)
			}
		}

		set := rules.NewSet(list, nil)
		require.Empty(t, set.Broken())
		got := []string{}
		for r := range set.All(msg, now) {
			got = append(got, r.ID)
		}
		require.Equal(t, want, got)
		first, ok := set.First(msg, now)
		require.Equal(t, len(want) > 0, ok)
		if ok {
			require.Equal(t, want[0], first.ID)
		}
	})
}

func anyRule() *rapid.Generator[rules.Rule] {
	return rapid.Custom(func(t *rapid.T) rules.Rule {
		r := rules.NewRule("r", rulestest.AnyCondition(3).Draw(t, "condition"), postroom.Archive, nil)
		r.Enabled = rapid.IntRange(0, 4).Draw(t, "enabled") > 0
		r.AccountID = rapid.SampledFrom([]string{"", "acc", "other"}).Draw(t, "owner")
		r.Priority = rapid.IntRange(1, 2).Draw(t, "priority")
		r.Position = rapid.IntRange(0, 1).Draw(t, "position")
		r.CreatedAt = now.Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "created")) * time.Second)
		r.Scope = rapid.SampledFrom([]rules.Scope{rules.ScopeGlobal, rules.ScopeAccount, rules.ScopeDomain,
			rules.ScopeSender}).Draw(t, "scope")
		switch r.Scope {
		case rules.ScopeAccount:
			r.ScopeRef = "acc"
			if r.AccountID == "other" {
				r.AccountID = ""
			}
		case rules.ScopeDomain:
			r.ScopeRef = "A.example"
		case rules.ScopeSender:
			r.ScopeRef = "Bob@b.example"
		}
		return r
	})
}

func sees(r *rules.Rule, msg *postroom.Message) bool {
	if r.AccountID != "" && r.AccountID != msg.AccountID {
		return false
	}
	switch r.Scope {
	case rules.ScopeAccount:
		return r.ScopeRef == msg.AccountID
	case rules.ScopeDomain:
		return strings.EqualFold(r.ScopeRef, msg.From.Domain())
	case rules.ScopeSender:
		return strings.EqualFold(r.ScopeRef, msg.From.Email)
	default:
		return true
	}
}

// FuzzTheIndexFindsWhatMatches compares the index with the condition alone, for any value and any text.
func FuzzTheIndexFindsWhatMatches(f *testing.F) {
	for _, seed := range [][3]string{
		{"is", "Re: x", "re: X"}, {"contains", " ſs ", "a SS b"}, {"wildcard", `a*\*?`, "A x *y"}, {"regex", "(?i)k+ *(a|b)", "\u212a\n b"},
		{"regex", "a{2}|^$", "aa"}, {"contains", "\xff", "\ufffd"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, match, value, text string) {
		msg := &postroom.Message{Subject: text, BodyPlain: text, From: postroom.Address{Name: text, Email: text}}
		for _, c := range []rules.Condition{
			{Type: rules.Subject}, {Type: rules.Body}, {Type: rules.Address, Fields: []string{"from"}},
			{Type: rules.Address, Fields: []string{"from"}, Part: "name"},
		} {
			c.Match, c.Value = rules.Match(match), value
			if c.Validate() != nil {
				continue
			}
			_, found := rules.NewSet([]rules.Rule{rules.NewRule("r", c, postroom.Archive, nil)}, nil).First(msg, now)
			require.Equal(t, rulestest.Matches(t, c, msg), found)
		}
	})
}

// What a rule says of the mail that it may match leaves out none that it does.
func TestARuleKnowsWhatItReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rules.NewRule("r", rulestest.AnyCondition(2).Draw(t, "condition"), postroom.Archive, nil)
		set := rules.NewSet([]rules.Rule{r}, nil)
		msg := rulestest.AnyMessage().Draw(t, "message")
		_, matches := set.First(msg, now)
		if senders, some := r.Senders(); some && matches {
			require.Contains(t, senders, mailname.Address(msg.From.Email))
		}
		if !set.ReadsBodies() {
			bare := *msg
			bare.BodyPlain, bare.BodyHTML = "", ""
			_, same := set.First(&bare, now)
			require.Equal(t, matches, same)
		}
	})
}

func TestTheSendersOfARule(t *testing.T) {
	ada := rulestest.Predicate(rules.SenderEmail, "Ada@a.example")
	bob := rulestest.Predicate(rules.SenderEmail, "bob@Bücher.example")
	word, domain := rulestest.Predicate(rules.SubjectContains, "tea"), rulestest.FromDomain("a.example")
	for _, c := range []struct {
		condition rules.Condition
		want      []string
	}{
		{ada, []string{"ada@a.example"}},
		{rules.AnyOf(ada, rules.AllOf(word, bob)), []string{"ada@a.example", "bob@xn--bcher-kva.example"}},
		{rules.AllOf(word, rules.AnyOf(ada, bob)), []string{"ada@a.example", "bob@xn--bcher-kva.example"}},
		{rules.AnyOf(ada, word), nil}, {rules.NoneOf(ada), nil}, {domain, nil}, {word, nil}, {rules.Condition{}, nil},
		{rules.Condition{Type: rules.Address, Fields: []string{"from", "to"}, Value: "ada@a.example"}, nil},
	} {
		r := rules.NewRule("r", c.condition, postroom.Archive, nil)
		got, ok := r.Senders()
		require.Equal(t, c.want != nil, ok, c.condition)
		if ok {
			require.Equal(t, c.want, got)
		}
	}
	scoped := rules.NewRule("r", word, postroom.Archive, nil)
	scoped.Scope, scoped.ScopeRef = rules.ScopeSender, "ada@a.example"
	got, ok := scoped.Senders()
	require.True(t, ok)
	require.Equal(t, []string{"ada@a.example"}, got)
	for condition, reads := range map[string]bool{`{"type":"hidden_text"}`: true, `{"type":"parts_disagree"}`: true,
		`{"type":"body","value":"x"}`: true, `{"type":"body_regex","value":"x"}`: true, `{"type":"body_contains","value":"x"}`: true,
		`{"type":"has_attachment"}`: false, `{"type":"subject","value":"x"}`: false} {
		c, err := rules.ParseCondition([]byte(condition))
		require.NoError(t, err)
		set := rules.NewSet([]rules.Rule{rules.NewRule("r", rules.NoneOf(c), postroom.Archive, nil)}, nil)
		require.Equal(t, reads, set.ReadsBodies(), condition)
	}
}
