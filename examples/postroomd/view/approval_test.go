package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/safety"
)

// Somebody who is asked whether to delete a message sees when it came and how it begins.
func TestApprovalReads(t *testing.T) {
	v := &Approval{waiting: safety.Waiting{Entry: safety.Entry{
		Action: postroom.Action{ID: "01a2027b-5b05-759a-948b-26e5e08e812d", Type: postroom.Delete},
		Decision: safety.DecisionRecord{Sender: "offers@desk.example", Subject: "Paper clips",
			Decision: postroom.Decision{Source: postroom.SourceDeterministic, RuleName: "Junk",
				Rationale: "Matched deterministic rule 'Junk' (priority 10)"}},
	}, Approval: safety.Approval{ExpiresAt: at.Add(7 * 24 * time.Hour), Reasons: []string{
		"action is classified as dangerous", "action type is in approval_always list"}}},
		About: newAboutMail(&postroom.Message{ReceivedAt: at,
			BodyPlain: "Dear owner,\n\nid   is not a line of ours\x1b[31m.\n" + strings.Repeat("A line.\n", 20)}),
	}
	var out bytes.Buffer
	require.NoError(t, v.Print(&out))
	v.About = nil
	out.WriteString("\n")
	require.NoError(t, v.Print(&out))
	golden(t, "approval.txt", out.String())
}

func TestAnExcerptIsBounded(t *testing.T) {
	short := newAboutMail(&postroom.Message{BodyPlain: "hello\n"})
	require.Equal(t, &AboutMail{Excerpt: "hello", Whole: true}, short)
	long := newAboutMail(&postroom.Message{BodyPlain: strings.Repeat("x", 10_000)})
	require.Len(t, []rune(long.Excerpt), excerptWidth)
	require.False(t, long.Whole)
}

// Who is asked about a snooze sees until when.
func TestASnoozeInWords(t *testing.T) {
	for words, p := range map[string]postroom.Parameters{
		"snooze until " + printer.Minute(at): {"until": at.Format(time.RFC3339)},
		"snooze until tomorrow 9:30":         {"when": "tomorrow 9:30"},
		"snooze for 2 weeks":                 {"when": "in 2 weeks"},
		"snooze for 3 days":                  {"amount": 3.0, "units": "days"},
	} {
		require.Equal(t, words, InWords(postroom.Action{Type: postroom.Snooze, Parameters: p}, nil))
	}
}
