package decide_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
)

func asksReply(context.Context, *postroom.Message) (bool, error) { return true, nil }

// says is an answer of the model with a need for an answer, as JSON.
func says(reply string, confidence float64) llmtest.Turn {
	return llmtest.Calls(decide.RecordDecision, fmt.Sprintf(`{"decision": {"action": "archive", "parameters": {},
		"confidence": %v, "needs_approval": false, "rationale": "Because."}, "reply": %s}`, confidence, reply))
}

// One call decides, and says whether the mail needs an answer.
func TestReplyIsAnsweredInTheCallThatDecides(t *testing.T) {
	for said, want := range map[string]postroom.ReplyNeed{
		`"needs_response"`: postroom.ReplyNeeded, `"waiting"`: postroom.ReplyWaiting, `"none"`: "", `""`: "",
		`"archive"`: "", `null`: "", `7`: "", `["needs_response"]`: "", `{"reply": "needs_response"}`: "",
	} {
		client := llmtest.NewScripted(t, says(said, 0.9))
		d := decided(t, newDecider(t, decide.Config{Client: client, AsksReply: asksReply}), mail("When do we meet?"))
		require.Equal(t, postroom.Archive, d.Action, said)
		require.Equal(t, want, d.Reply, said)
		asked := client.Requests()
		require.Len(t, asked, 1, said)
		require.Len(t, asked[0].Tools, 1)
		require.Contains(t, string(asked[0].Tools[0].Schema), `"enum":["needs_response","waiting","none"]`)
		require.NotContains(t, string(asked[0].Tools[0].Schema), `"reply","`, "it is not required")
		require.Contains(t, asked[0].Messages[1].Text, "say in reply whether the person has to answer")
	}
	client := llmtest.NewScripted(t, llmtest.Decides("archive", "{}", 0.9))
	require.Empty(t, decided(t, newDecider(t, decide.Config{Client: client, AsksReply: asksReply}), mail("x")).Reply,
		"a model that does not say it")
	require.Len(t, client.Requests(), 1)
}

func TestReplyOfAModelThatIsNotSureIsNone(t *testing.T) {
	client := llmtest.NewScripted(t, says(`"needs_response"`, 0.79))
	require.Empty(t, decided(t, newDecider(t, decide.Config{Client: client, AsksReply: asksReply}), mail("x")).Reply)
	client = llmtest.NewScripted(t, says(`"needs_response"`, 0.8))
	require.Equal(t, postroom.ReplyNeeded,
		decided(t, newDecider(t, decide.Config{Client: client, AsksReply: asksReply}), mail("x")).Reply)
}

// notAsked requires that the model is asked once, not asked about an answer, and not believed if it says so.
func notAsked(ctx context.Context, t *testing.T, cfg decide.Config, msg *postroom.Message, name string) {
	t.Helper()
	client := llmtest.NewScripted(t, says(`"needs_response"`, 1))
	cfg.Client = client
	d, err := newDecider(t, cfg).Decide(ctx, msg)
	require.NoError(t, err, name)
	require.Equal(t, postroom.Archive, d.Action, name)
	require.Empty(t, d.Reply, name)
	asked := client.Requests()
	require.Len(t, asked, 1, name)
	require.NotContains(t, string(asked[0].Tools[0].Schema), "needs_response", name)
	require.NotContains(t, asked[0].Messages[1].Text, "needs_response", name)
}

func TestReplyIsAskedForOnlyIfTheHostWants(t *testing.T) {
	notAsked(t.Context(), t, decide.Config{}, mail("x"), "no host")
	no := func(context.Context, *postroom.Message) (bool, error) { return false, nil }
	notAsked(t.Context(), t, decide.Config{AsksReply: no}, mail("x"), "the host says no")
	notAsked(postroom.WithAsking(t.Context(), "again"), t, decide.Config{AsksReply: asksReply}, mail("x"), "asked again")
	notAsked(postroom.WithRejection(t.Context(), postroom.Rejection{What: "archive"}), t,
		decide.Config{AsksReply: asksReply}, mail("x"), "rejected")

	fault := errors.New("no database")
	fails := newDecider(t, decide.Config{Client: llmtest.NewScripted(t),
		AsksReply: func(context.Context, *postroom.Message) (bool, error) { return false, fault }})
	_, err := fails.Decide(t.Context(), mail("x"))
	require.ErrorIs(t, err, fault)
	_, err = fails.Prompt(t.Context(), mail("x"))
	require.ErrorIs(t, err, fault)
}

// What programs and lists send needs no answer, whatever it says: the host is not asked, nor the model.
func TestAutomationNeedsNoAnswer(t *testing.T) {
	asks := func(context.Context, *postroom.Message) (bool, error) { return true, errors.New("asked") }
	for name, msg := range automation() {
		notAsked(t.Context(), t, decide.Config{AsksReply: asks}, msg, name)
	}
}

func automation() map[string]*postroom.Message {
	all := make(map[string]*postroom.Message)
	add := func(name string, change func(*postroom.Message)) {
		msg := mail("Could you please answer by tomorrow?")
		change(msg)
		all[name] = msg
	}
	for _, field := range []string{"List-Id: <l.example.com>", "List-Post: <mailto:l@example.com>",
		"List-Unsubscribe: <https://example.com/u>", "Precedence: bulk", "Precedence: list", "Precedence: junk",
		"Feedback-ID: 1:acme", "Auto-Submitted: auto-generated", "Auto-Submitted: auto-replied", "X-Autoreply: yes",
		"X-Failed-Recipients: a@example.com", "Return-Path: <>", "X-Auto-Response-Suppress: All",
		"Content-Type: multipart/report; report-type=delivery-status", "From: no-reply@example.com",
		"From: MAILER-DAEMON <>"} {
		name, value, _ := strings.Cut(field, ": ")
		add(field, func(m *postroom.Message) { m.Headers = []postroom.Header{{Name: name, Value: value}} })
	}
	for _, email := range []string{"noreply@example.com", "do-not-reply@example.com", "mailer-daemon@example.com", ""} {
		add("from "+email, func(m *postroom.Message) { m.From.Email = email })
	}
	add("answers to nobody", func(m *postroom.Message) {
		m.ReplyTo = []postroom.Address{{Email: "no-reply@example.com"}}
	})
	for _, label := range []string{postroom.LabelSent, postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash} {
		add(label, func(m *postroom.Message) { m.LabelIDs = []string{label} })
	}
	for _, a := range []postroom.Attachment{{Kind: "calendar"}, {ContentType: "Text/Calendar; method=REQUEST"},
		{ContentType: "application/ics"}, {Kind: "report", ContentType: "message/delivery-status"}} {
		add("with "+a.Kind+a.ContentType, func(m *postroom.Message) { m.Attachments = []postroom.Attachment{a} })
	}
	return all
}

// A decision that is taken again never says that an answer is needed.
func TestReusedDecisionNeedsNoAnswer(t *testing.T) {
	client := llmtest.NewScripted(t, llmtest.Calls(decide.RecordDecision, `{"decision": {"action": "star",
		"parameters": {}, "confidence": 1, "needs_approval": false, "rationale": "Because."},
		"reply": "needs_response"}`))
	d := newDecider(t, decide.Config{Client: client, AsksReply: asksReply,
		Templates: templates(t, decide.TemplatesConfig{DB: dbtest.SQLite(t)})})
	for _, number := range []string{"1111", "1112"} {
		decision := decided(t, d, decide.Newsletter("Ada", number))
		require.Equal(t, postroom.Star, decision.Action)
		require.Empty(t, decision.Reply)
	}
	require.Len(t, client.Requests(), 1)
}
