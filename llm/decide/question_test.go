package decide_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/llm/llmtest"
)

var errColour = errors.New("colour: it is none")

// colour asks for a fact that everybody understands.
func colour() decide.Question {
	return decide.Question{Task: "Say which colour the mail has.", Schema: json.RawMessage(`{"type":"object","properties":{
		"colour":{"type":"string"}},"required":["colour"],"additionalProperties":false}`),
		Check: func(answer json.RawMessage) error {
			var a struct{ Colour string }
			if json.Unmarshal(answer, &a) != nil || a.Colour != "red" {
				return errColour
			}
			return nil
		}}
}

func asksColour(context.Context, *postroom.Message) (*decide.Question, error) {
	q := colour()
	return &q, nil
}

// One call decides, and answers the question and whether an answer is needed.
func TestAQuestionIsAnsweredInTheCallThatDecides(t *testing.T) {
	for said, want := range map[string]string{
		`{"colour": "red"}`: `{"colour": "red"}`, `{"colour": "blue"}`: `{"colour": "blue"}`, `"red"`: "", `null`: "", `[]`: "",
	} {
		client := llmtest.NewScripted(t, llmtest.Calls(decide.RecordDecision, `{"decision": {"action": "archive",
			"parameters": {}, "confidence": 0.9, "needs_approval": false, "rationale": "Because."},
			"reply": "needs_response", "enrichment": `+said+`}`))
		d := decided(t, newDecider(t, decide.Config{Client: client, AsksReply: asksReply, Question: asksColour}),
			mail("When do we meet?"))
		require.Equal(t, postroom.Archive, d.Action, said)
		require.Equal(t, postroom.ReplyNeeded, d.Reply, said)
		require.NotNil(t, d.Enrichment, said)
		require.Equal(t, want, string(d.Enrichment.JSON), said)
		require.Equal(t, 1, d.Enrichment.Calls)
		require.Equal(t, 120, d.Enrichment.Tokens)
		asked := client.Requests()
		require.Len(t, asked, 1, said)
		require.Len(t, asked[0].Tools, 1)
		require.Contains(t, string(asked[0].Tools[0].Schema), `"enrichment":{"type":"object"`)
		require.Contains(t, string(asked[0].Tools[0].Schema), `"required":["decision","enrichment",`)
		require.Contains(t, asked[0].Messages[1].Text, "Say which colour")
	}
}

// A model that refuses a message says so to who would ask it about the message again.
func TestARefusalAnswersTheQuestion(t *testing.T) {
	d := decided(t, newDecider(t, decide.Config{Client: llmtest.NewScripted(t, failing(llm.ErrRefused)),
		Question: asksColour}), mail("x"))
	require.Equal(t, postroom.None, d.Action)
	require.NotNil(t, d.Enrichment)
	require.Equal(t, d.Rationale, d.Enrichment.Refused)
	d = decided(t, newDecider(t, decide.Config{Client: llmtest.NewScripted(t, failing(llm.ErrRefused))}), mail("x"))
	require.Nil(t, d.Enrichment)
}

// A corrected decision has cost two calls, and nothing of the first answer counts.
func TestTheCallsOfAQuestionAreCounted(t *testing.T) {
	client := llmtest.NewScripted(t, llmtest.Calls(decide.RecordDecision, `{"enrichment": {"colour": "red"}}`),
		llmtest.Decides("archive", "{}", 0.9))
	d := decided(t, newDecider(t, decide.Config{Client: client, Question: asksColour}), mail("x"))
	require.Equal(t, &postroom.ModelAnswer{Calls: 2, Tokens: 240}, d.Enrichment)
}

// An answer that is cut, as by much that the question asks for, does not cost the decision.
func TestAQuestionDoesNotCostTheDecision(t *testing.T) {
	cut := llmtest.Calls(decide.RecordDecision, `{"decision": {"action": "archive"`)
	cut.Response.Stop = llm.StopLength
	client := llmtest.NewScripted(t, cut, llmtest.Decides("archive", "{}", 0.9))
	d := decided(t, newDecider(t, decide.Config{Client: client, Question: asksColour,
		Seen: func(context.Context, *postroom.Message) (bool, error) { return false, nil }}), mail("x"))
	require.Equal(t, postroom.Archive, d.Action)
	require.Equal(t, &postroom.ModelAnswer{Calls: 2, Tokens: 240}, d.Enrichment)
	asked := client.Requests()
	require.Contains(t, asked[0].Messages[1].Text, "Say which colour")
	require.NotContains(t, string(asked[1].Tools[0].Schema), "enrichment")
	require.Len(t, asked[1].Messages, 2)
	require.NotContains(t, asked[1].Messages[1].Text, "Say which colour")
	require.Contains(t, asked[1].Messages[1].Text, "The actions are")
}

func TestTheFirstModelsAnswerStaysIfTheEscalationModelHasNone(t *testing.T) {
	perhaps := llmtest.Calls(decide.RecordDecision, `{"decision": {"action": "archive",
		"parameters": {}, "confidence": 0.5, "needs_approval": false, "rationale": "Perhaps."},
		"enrichment": {"colour": "red"}}`)
	for _, also := range []string{"", `, "enrichment": {"colour": "blue"}`} {
		first := llmtest.NewScripted(t, perhaps)
		second := llmtest.NewScripted(t, llmtest.Calls(decide.RecordDecision, `{"decision": {"action": "star",
			"parameters": {}, "confidence": 0.9, "needs_approval": false, "rationale": "Sure."}`+also+`}`))
		d := decided(t, newDecider(t, decide.Config{Client: first, Escalation: second, Question: asksColour}), mail("x"))
		require.Equal(t, postroom.Star, d.Action)
		require.Equal(t, &postroom.ModelAnswer{JSON: json.RawMessage(`{"colour": "red"}`), Calls: 2, Tokens: 240},
			d.Enrichment)
	}
}

func TestAQuestionIsAskedOnlyIfTheHostWants(t *testing.T) {
	nothing := func(context.Context, *postroom.Message) (*decide.Question, error) { return nil, nil } //nolint:nilnil // nothing is asked
	for name, of := range map[string]struct {
		cfg decide.Config
		ctx context.Context //nolint:containedctx // of a test's case
	}{
		"no host":      {decide.Config{}, t.Context()},
		"nothing":      {decide.Config{Question: nothing}, t.Context()},
		"asked again":  {decide.Config{Question: asksColour}, postroom.WithAsking(t.Context(), "again")},
		"after a veto": {decide.Config{Question: asksColour}, postroom.WithRejection(t.Context(), postroom.Rejection{What: "star"})},
	} {
		client := llmtest.NewScripted(t, llmtest.Calls(decide.RecordDecision, `{"decision": {"action": "archive",
			"parameters": {}, "confidence": 0.9, "needs_approval": false, "rationale": "Because."},
			"enrichment": {"colour": "red"}}`))
		of.cfg.Client = client
		d, err := newDecider(t, of.cfg).Decide(of.ctx, mail("x"))
		require.NoError(t, err, name)
		require.Equal(t, postroom.Archive, d.Action, name)
		require.Nil(t, d.Enrichment, name)
		require.NotContains(t, string(client.Requests()[0].Tools[0].Schema), "enrichment", name)
	}
	fails := newDecider(t, decide.Config{Client: llmtest.NewScripted(t),
		Question: func(context.Context, *postroom.Message) (*decide.Question, error) { return nil, errColour }})
	_, err := fails.Decide(t.Context(), mail("x"))
	require.ErrorIs(t, err, errColour)
	broken := newDecider(t, decide.Config{Client: llmtest.NewScripted(t),
		Question: func(context.Context, *postroom.Message) (*decide.Question, error) {
			return &decide.Question{Task: "x", Schema: json.RawMessage("{"),
				Check: func(json.RawMessage) error { return nil }}, nil
		}})
	_, err = broken.Decide(t.Context(), mail("x"))
	require.ErrorContains(t, err, "Schema that is JSON")
}

// A decision that is taken again answers no question: the fact is that of the other mail.
func TestAReusedDecisionAnswersNothing(t *testing.T) {
	client := llmtest.NewScripted(t, llmtest.Calls(decide.RecordDecision, `{"decision": {"action": "star",
		"parameters": {}, "confidence": 1, "needs_approval": false, "rationale": "Because."},
		"enrichment": {"colour": "red"}}`))
	d := newDecider(t, decide.Config{Client: client, Question: asksColour,
		Templates: templates(t, decide.TemplatesConfig{DB: dbtest.SQLite(t)})})
	require.NotNil(t, decided(t, d, decide.Newsletter("Ada", "1111")).Enrichment)
	require.Nil(t, decided(t, d, decide.Newsletter("Ada", "1112")).Enrichment)
}

// ask asks the question about a mail, by a decider whose client answers with the turns.
func ask(t *testing.T, turns ...llmtest.Turn) (postroom.ModelAnswer, []llm.Request, error) {
	t.Helper()
	client := llmtest.NewScripted(t, turns...)
	d := newDecider(t, decide.Config{Client: client, Guidance: guide(decide.Guidance{
		Instructions: []guidance.Instruction{{Text: "What Ada sends is red."}}})})
	answer, err := d.Ask(t.Context(), mail(`{"colour": "red"}`), colour())
	return answer, client.Requests(), err
}

func TestAskAsksTheQuestionAlone(t *testing.T) {
	red := `{"colour": "red" }`
	for name, turn := range map[string]llmtest.Turn{
		"a call":            llmtest.Calls(decide.RecordFacts, red),
		"with a namespace":  llmtest.Calls("functions."+decide.RecordFacts, red),
		"a fence in a call": llmtest.Calls(decide.RecordFacts, "```json\n"+red+"\n```"),
	} {
		answer, asked, err := ask(t, turn)
		require.NoError(t, err, name)
		require.Equal(t, postroom.ModelAnswer{JSON: json.RawMessage(red), Calls: 1, Tokens: 120}, answer, name)
		require.Len(t, asked, 1)
		require.Equal(t, decide.RecordFacts, asked[0].ForceTool)
		require.Equal(t, "enrich", asked[0].Purpose)
		text := asked[0].Messages[1].Text
		require.Contains(t, text, "What Ada sends is red.")
		require.Contains(t, text, "Say which colour")
		require.NotContains(t, asked[0].Messages[0].Text+text, decide.RecordDecision)
		require.NotContains(t, text, "The actions are")
	}
}

// A model that writes its answer into the text is believed, but for what it quotes from the mail.
func TestAskReadsAnAnswerInText(t *testing.T) {
	answer, _, err := ask(t, llmtest.Says(`{"colour":"red","why":"it is"}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"colour":"red","why":"it is"}`, string(answer.JSON))
	_, asked, err := ask(t, llmtest.Says(`{"colour":"red"}`), llmtest.Says("Red."),
		llmtest.Says(`{"colour":"red","colour":"blue"}`))
	require.ErrorIs(t, err, decide.ErrNoAnswer)
	require.Contains(t, asked[1].Messages[3].Text, "stands in the mail as well")
	require.Contains(t, asked[2].Messages[5].Text, "expected one object")
}

// An unusable answer is returned to the model with its fault; the last one is kept for who can use a part of it.
func TestAskReturnsAnUnusableAnswer(t *testing.T) {
	blue := llmtest.Calls(decide.RecordFacts, `{"colour":"blue"}`)
	answer, asked, err := ask(t, blue, llmtest.Calls(decide.RecordFacts, `{"colour":"red"}`))
	require.NoError(t, err)
	require.Equal(t, 2, answer.Calls)
	require.Contains(t, asked[1].Messages[3].Text, errColour.Error())
	require.Contains(t, asked[1].Messages[3].Text, "Call "+decide.RecordFacts+" exactly once")

	answer, _, err = ask(t, blue, llmtest.Calls("send_mail", "{}"), llmtest.Calls(decide.RecordFacts, "["))
	require.ErrorIs(t, err, decide.ErrNoAnswer)
	require.Equal(t, postroom.ModelAnswer{JSON: json.RawMessage(`{"colour":"blue"}`), Calls: 3, Tokens: 360}, answer)
}

func TestAskTellsWhatPassesFromWhatDoesNot(t *testing.T) {
	_, _, err := ask(t, failing(llm.ErrRefused))
	require.ErrorIs(t, err, decide.ErrNoAnswer)
	_, _, err = ask(t, failing(llm.ErrOverloaded))
	require.Error(t, err)
	require.NotErrorIs(t, err, decide.ErrNoAnswer)
	_, err = newDecider(t, decide.Config{Client: llmtest.NewScripted(t)}).Ask(t.Context(), mail("x"), decide.Question{})
	require.ErrorContains(t, err, "a Question needs Task")
}

// Whatever a model answers that is broken or controlled by an attacker, it answers no question.
func TestAskTakesNoAttack(t *testing.T) {
	d := newDecider(t, decide.Config{Client: &llmtest.Malicious{}})
	for range len(llmtest.Attacks()) {
		_, err := d.Ask(t.Context(), mail("x"), colour())
		require.ErrorIs(t, err, decide.ErrNoAnswer)
		require.Less(t, len(err.Error()), 2500)
		require.False(t, strings.Contains(err.Error(), "\n"), err)
	}
}
