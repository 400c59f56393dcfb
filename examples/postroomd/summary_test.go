package main

import (
	"bytes"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
)

var update = flag.Bool("update", false, "write the golden files anew")

// What a person reads at the end of a demo, to the letter.
func TestSummaryReads(t *testing.T) {
	s := &summary{
		Messages: 120, New: 100,
		Mailboxes: []mailboxRun{
			{Email: "you@example.com", State: gmail.AccountActive, Messages: 120},
			{Email: "ann@example.com", State: gmail.AccountPaused, Reason: "holiday"},
			{Email: "bob@example.com", State: gmail.AccountActive, Failure: "its labels could not be read: forbidden"},
		},
		Actions:   map[postroom.ActionType]int{"move": 40, "apply_label": 12, "none": 40, "delete": 3},
		Rules:     map[string]int{"Newsletters": 40, "Receipts": 12, "Junk\x1b[31m": 3},
		Approvals: 3, Waiting: 4, Stopped: "stopped by ann on 2026-07-01T12:00:00Z: odd\x1b[31m mail", Unmatched: 40, Failed: 2, Seconds: 1.26, Wanted: []string{"Postroom/News", "Trips"},
		Disabled: []disabledRule{{Rule: "Trips", Mailbox: "you@example.com", Reason: "Label 'Trips' was deleted from Gmail"}},
		Broken: []brokenMessage{
			{Index: 7, Subject: "Boxes in boxes", Reason: "too deep", JobID: "01a1fc4b"},
			{Index: 9, Reason: "larger than Gmail takes"},
		},
	}
	var out bytes.Buffer
	require.NoError(t, s.print(&out, "postroomd", "--data /tmp/mail"))
	golden(t, "summary.txt", out.String())
}

// What is new is what was taken in, also beside what is deleted meanwhile and what is deleted as soon as it comes.
func TestTheSummaryCountsWhatIsNew(t *testing.T) {
	const letters = 3
	var mail []string
	for n := range letters {
		mail = append(mail, letterNamed(n))
	}
	m := newTeatime(t, "{action: delete, safe_mode: dangerous_override}", "", mail...)
	s := runOnce(t, m.where...)
	require.Equal(t, []int{0, letters}, []int{s.Messages, s.New}, "the rule deletes all of it")
	require.Zero(t, runOnce(t, m.where...).New)
}
