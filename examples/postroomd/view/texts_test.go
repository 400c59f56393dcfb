package view

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety/gate"
)

// goldenReport compares what a person reads, at two widths, to the letter.
func goldenReport(t *testing.T, name string, write func(r *printer.Report)) {
	t.Helper()
	var all strings.Builder
	for _, width := range []int{80, 36} {
		var out bytes.Buffer
		r := printer.NewReport(&out)
		r.Width = width
		write(r)
		require.NoError(t, r.Flush())
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), width)
		}
		all.WriteString(out.String() + strings.Repeat("=", width) + "\n")
	}
	golden(t, name, all.String())
}

// golden compares a text with a file, to the letter.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "run with -update when the change is meant")
}

var (
	at   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local) // noon, as people read it
	sure = 0.45
)

func sampleDecision() *WholeDecision {
	return &WholeDecision{
		Decision: Decision{
			ID: "01a2027b-5a72-74ae-a057-8fe2478a73ad", Action: postroom.Move,
			Parameters: postroom.Parameters{"label": "Label_7"}, Label: "Receipts",
			Source: postroom.SourceModel, Model: "openai::small", Confidence: &sure, NeedsApproval: true, CreatedAt: at,
			Rationale: "The message is a receipt for shoes that were bought on Friday, and the directions put receipts away.",
			Reasons:   []string{"confidence 0.45 is below threshold 0.70", "the message hides text from its reader"},
		},
		Explanations: postroom.Explanations{
			SalientFeatures: []string{"an order number", "a sum"}, MatchedDirections: []string{"Put receipts away."},
			ConsideredAlternatives: []postroom.Alternative{{Action: postroom.Archive, Confidence: 0.3,
				WhyNot: "Receipts are wanted in their label."}},
		},
		Released: []gate.Override{gate.OverrideApprovalAlways},
		Actions: []Result{
			{webapi.Action{ID: "01a2027b-5b05-759a-948b-26e5e08e812d", Action: postroom.Move, State: postroom.ActionCompleted, ExecutedAt: at.Add(time.Hour)}, "takes off Receipts, puts back INBOX"},
			{webapi.Action{ID: "01a2027b-5b05-759a-948b-26e5e08e812e", Action: "undo_move", State: postroom.ActionFailed, Error: "the message is gone"}, ""},
		},
	}
}

func TestExplanationReads(t *testing.T) {
	x := &Explanation{
		Message: Mail{
			ID: "18c2f0a9d1e4b7f3", From: postroom.Address{Name: "Shoes\x1b[31m", Email: "shop@example.com"}, ReceivedAt: at,
			Labels:  []string{"INBOX", "UNREAD"},
			Subject: "Your order 4711 has been sent, and something else that makes this subject very long indeed",
		},
		Rules: []TriedRule{
			{Name: "Newsletters", Priority: 10, Outcome: rules.NoMatch, Failed: []FailedCondition{{Condition: `list_id "dev.lists.example"`}, {Condition: `not sender_domain "example.com"`, Found: `it is "example.com"`}}},
			{Name: "Bank", Priority: 20, Outcome: rules.Unverified, Reason: `the domain of "shop@example.com" is not authenticated, and the rule goes by its sender`},
			{Name: "Old", Priority: 30, Outcome: rules.RuleDisabled, Reason: "Label 'Old' was deleted from Gmail"},
		},
		Model: &Model{
			Models: []string{"openai::small"},
			Calls: []Call{
				{Model: "openai::small", Outcome: llm.Failed, At: at, LatencyMS: 1200, Failure: "openai: status 503, overloaded: try later"},
				{Model: "openai::small", Outcome: llm.Answered, At: at.Add(time.Second), LatencyMS: 850, Tokens: 1100, Cost: "$0.0015", Answer: `record_decision {"decision":{"action":"move","parameters":{"label":"Receipts"},"confidence":0.45}}`},
				{Model: "openai::small", Outcome: llm.Cached, At: at.Add(time.Minute)},
			},
			Prompt: []Layer{{"SYSTEM", "You sort the mail."},
				{"MESSAGE CONTEXT", "Subject: Your order\nLabels\nDecision forged"}}, Same: true,
		},
		Decisions: []*WholeDecision{sampleDecision()},
	}
	goldenReport(t, "explain.txt", func(r *printer.Report) { x.Print(r, true) })
}

func TestExplanationOfWhatNobodyDecidedReads(t *testing.T) {
	x := &Explanation{
		Message: Mail{ID: "18c2f0a9d1e4b7f3", Subject: "hello"}, Waiting: true,
		Model: &Model{Models: []string{"openai::small", "gemini::other"}, Prompt: []Layer{{"SYSTEM", "You sort."}}},
	}
	goldenReport(t, "explain-waiting.txt", func(r *printer.Report) { x.Print(r, false) })
}

func TestCostReads(t *testing.T) {
	left, dollars := int64(1_900_000), 0.42
	v := &Cost{
		Today: Period{From: at, Spent: []Spent{{Mailbox: "ada@example.org", Model: "openai::small", Calls: 40,
			Tokens: 100_000, Dollars: 0.08}}},
		Month: Period{
			From: at, Total: Spent{Calls: 1240, Cached: 12, Failed: 3, Tokens: 3_100_000, Dollars: 2.5},
			Spent: []Spent{
				{Mailbox: "ada@example.org", Model: "openai::small", Calls: 1200, Cached: 12, Tokens: 3_000_000, Dollars: 2.4},
				{Mailbox: "grace@example.org", Model: "anthropic::better", Calls: 40, Failed: 3, Tokens: 100_000, Dollars: 0.1},
			},
		},
		Forecast: []Forecast{{"", 7, 9000, 22_500_000, 18}, {"ada@example.org", 1, 30, 1000, 0.0004},
			{"new@example.org", 0, 0, 0, 0}},
		Budgets: []Budget{{Tokens: 2_000_000, TokensLeft: &left},
			{Mailbox: "ada@example.org", Dollars: 0.5, DollarsLeft: &dollars}},
		Unpriced: []string{"127.0.0.1::llama"},
	}
	goldenReport(t, "cost.txt", v.write)
}

func TestGroups(t *testing.T) {
	require.Equal(t, "1 call", thousands(1, "call"))
	require.Equal(t, "1,000 calls", thousands(1000, "call"))
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999",
		1234567: "1,234,567"} {
		require.Equal(t, want, grouped(n))
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// What a person reads at the end of a demo, to the letter.
func TestSummaryReads(t *testing.T) {
	s := &Summary{
		Messages: 120, New: 100,
		Mailboxes: []MailboxRun{
			{Email: "you@example.com", State: mailstore.AccountActive, Messages: 120},
			{Email: "ann@example.com", State: mailstore.AccountPaused, Reason: "holiday"},
			{Email: "bob@example.com", State: mailstore.AccountActive, Failure: "its labels could not be read: forbidden"},
		},
		Actions:   map[postroom.ActionType]int{"move": 40, "apply_label": 12, "none": 40, "delete": 3},
		Rules:     map[string]int{"Newsletters": 40, "Receipts": 12, "Junk\x1b[31m": 3},
		Approvals: 3, Waiting: 4, Stopped: "stopped by ann on 2026-07-01T12:00:00Z: odd\x1b[31m mail", Unmatched: 40,
		Failed: 2, Seconds: 1.26, Wanted: []string{"Postroom/News", "Trips"},
		Disabled: []DisabledRule{{Rule: "Trips", Mailbox: "you@example.com", Reason: "Label 'Trips' was deleted from Gmail"}},
		Broken: []BrokenMessage{
			{Index: 7, Subject: "Boxes in boxes", Reason: "too deep", JobID: "01a1fc4b"},
			{Index: 9, Reason: "larger than Gmail takes"},
		},
	}
	var out bytes.Buffer
	require.NoError(t, s.Print(&out, "postroomd", "--data /tmp/mail"))
	golden(t, "summary.txt", out.String())
}
