// Package rulestest has what the tests of rules share.
package rulestest

import (
	"flag"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/stretchr/testify/require"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Golden compares a text with a file, which -update rewrites.
func Golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// Formatted returns the canonical form of a text, which must be its own canonical form.
// Formatted formats a rules file twice, which must be as once.
func Formatted(t require.TestingT, text string) string {
	out, err := rulesfile.Format("rules.yaml", []byte(text))
	require.NoError(t, err, "%s", text)
	again, err := rulesfile.Format("rules.yaml", out)
	require.NoError(t, err, "%s", out)
	require.Equal(t, string(out), string(again), "%s", text)
	return string(out)
}

// Listed writes one untranslated part a line.
func Listed(untranslated []rulesfile.Untranslated) string {
	var text strings.Builder
	for _, u := range untranslated {
		text.WriteString(u.String() + "\n")
	}
	return text.String()
}

// Now is when the tests decide.
var Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Predicate makes a predicate with a value.
func Predicate(kind rules.Kind, value string) rules.Condition {
	return rules.Condition{Type: kind, Value: value}
}

// FromDomain makes a predicate that matches mail of a domain.
func FromDomain(domain string) rules.Condition {
	return rules.Condition{Type: rules.SenderDomain, Value: domain}
}

// Header makes a predicate that matches a pattern in a header field.
func Header(name, pattern string) rules.Condition {
	return rules.Condition{Type: rules.HeaderMatch, Header: name, Pattern: pattern}
}

// Matches reports whether a condition matches a message.
func Matches(t require.TestingT, c rules.Condition, msg *postroom.Message) bool {
	program, err := rules.Compile(c)
	require.NoError(t, err)
	return program.Match(msg, Now)
}

// OnLabel makes a predicate that matches a label.
func OnLabel(id string) rules.Condition {
	return rules.Condition{Type: rules.LabelPresent, Value: id}
}

// AnyPredicate draws predicates that match some of anyMessage and not others.
func AnyPredicate() *rapid.Generator[rules.Condition] {
	return rapid.SampledFrom([]rules.Condition{
		Predicate(rules.SenderEmail, "*@a.example"), Predicate(rules.SenderDomain, "b.example"),
		Predicate(rules.To, "me@home.example"),
		Predicate(rules.SubjectContains, "sale"), Predicate(rules.SubjectRegex, `^\w+ \d`),
		Predicate(rules.BodyContains, "x"),
		{Type: rules.HeaderPresent, Header: "List-Id"}, Header("List-Id", "dev"), Predicate(rules.LabelPresent, "INBOX"),
		Predicate(rules.HasAttachment, ""), Predicate(rules.LargerThan, "1KB"), Predicate(rules.OlderThan, "1d"),
		Predicate(rules.NewerThan, "3d"),
		{Type: rules.SenderEmail, Values: []string{"*@b.example", "amy@a.example"}}, Predicate(rules.IsReply, ""),
		Predicate(rules.Unread, ""),
		{Type: rules.Address, Fields: []string{"from", "to"}, Part: "local", Match: rules.Contains, Value: "m"},
		{Type: rules.Header, Fields: []string{"List-Id", "Subject"}, Match: rules.Wildcard, Value: "*E*"},
		{Type: rules.HeaderCount, Header: "List-Id", Compare: rules.Less, Value: "1"},
		{Type: rules.Weekday, Value: "sat", Zone: "Asia/Tokyo"}, {Type: rules.ListID, Value: "dev"},
		Predicate(rules.SenderDomain, "Bücher.example"), Predicate(rules.SenderEmail, "cy@BÜCHER.example"),
		Predicate(rules.To, "*@xn--bcher-kva.example"),
		{Type: rules.Address, Fields: []string{"from"}, Part: "domain", Match: rules.Wildcard, Value: "bücher.*"},
		{Type: rules.Address, Fields: []string{"from", "to"}, Match: rules.Contains, Value: "bücher.example"},
	})
}

// AnyCondition draws conditions.
func AnyCondition(depth int) *rapid.Generator[rules.Condition] {
	return rapid.Custom(func(t *rapid.T) rules.Condition {
		if depth == 0 || rapid.IntRange(0, 2).Draw(t, "shape") == 0 {
			return AnyPredicate().Draw(t, "predicate")
		}
		child := AnyCondition(depth - 1)
		if rapid.Bool().Draw(t, "not") {
			return rules.NoneOf(child.Draw(t, "child"))
		}
		children := rapid.SliceOfN(child, 1, 4).Draw(t, "children")
		return rules.Condition{Op: rapid.SampledFrom([]rules.Op{rules.And, rules.Or}).Draw(t, "op"), Children: children}
	})
}

// Doc returns the indented text below a heading of a doc.go.
func Doc(t *testing.T, path, heading string) string {
	t.Helper()
	source, err := os.ReadFile(path)
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(source), "// # "+heading+"\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "// # ")
	var code strings.Builder
	for line := range strings.Lines(section) {
		if indented, ok := strings.CutPrefix(line, "//\t"); ok {
			code.WriteString(indented)
		}
	}
	return code.String()
}

// WithForward are kinds of a host that forwards mail.
func WithForward(t testing.TB) *postroom.Kinds {
	t.Helper()
	forward, ok := postroom.StandardKind(postroom.Forward)
	require.True(t, ok)
	forward.Job = "forward"
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{forward}})
	require.NoError(t, err)
	return kinds
}

// AnyMessage draws messages.
func AnyMessage() *rapid.Generator[*postroom.Message] {
	return rapid.Custom(func(t *rapid.T) *postroom.Message {
		msg := &postroom.Message{
			AccountID: rapid.SampledFrom([]string{"acc", "other"}).Draw(t, "account"),
			From: postroom.Address{Email: rapid.SampledFrom([]string{"", "amy@a.example", "bob@b.example",
				"cy@xn--bcher-kva.example", "cy@BÜCHER.example"}).Draw(t, "from")},
			To: []postroom.Address{{Email: rapid.SampledFrom([]string{"me@home.example", "you@home.example",
				"me@bücher.example"}).Draw(t, "to")}},
			Subject:   rapid.SampledFrom([]string{"", "Sale 50", "sale", "Hello"}).Draw(t, "subject"),
			BodyPlain: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "body"),
			LabelIDs:  rapid.SliceOfDistinct(rapid.SampledFrom([]string{"INBOX", "UNREAD"}), rapid.ID).Draw(t, "labels"),
			Size:      rapid.Int64Range(0, 4096).Draw(t, "size"),
		}
		if days := rapid.IntRange(0, 5).Draw(t, "days"); days > 0 {
			msg.ReceivedAt = Now.AddDate(0, 0, -days)
		}
		if list := rapid.SampledFrom([]string{"", "dev", "ops"}).Draw(t, "list"); list != "" {
			msg.Headers = []postroom.Header{{Name: "List-Id", Value: list}}
		}
		return msg
	})
}

// Sequence yields messages.
func Sequence(messages ...*postroom.Message) iter.Seq2[*postroom.Message, error] {
	return func(yield func(*postroom.Message, error) bool) {
		for _, m := range messages {
			if !yield(m, nil) {
				return
			}
		}
	}
}
