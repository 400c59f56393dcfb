package decide_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
)

const full = `{
  "decision": {"action": "apply_label", "parameters": {"label": "Receipts"}, "confidence": 0.92, "needs_approval": true, "rationale": "It is a receipt."},
  "explanations": {
    "salient_features": ["sender is a shop"],
    "matched_directions": ["label receipts"],
    "considered_alternatives": [{"action": "archive", "confidence": 0.3, "why_not": "It may be needed."}]
  },
  "undo_hint": {"inverse_action": "remove_label", "inverse_parameters": {"label": "Receipts"}}
}`

func Complete(name, arguments string) *llm.Response { return llmtest.Calls(name, arguments).Response }

func TestParseDecisionReadsTheWholeContract(t *testing.T) {
	answer, err := decide.Parse(Complete(decide.RecordDecision, full), nil)
	require.NoError(t, err)
	require.Equal(t, decide.Answer{
		Decision: postroom.Decision{
			Action: postroom.ApplyLabel, Parameters: postroom.Parameters{"label": "Receipts"}, Confidence: 0.92, NeedsApproval: true,
			Rationale: "It is a receipt.",
			Explanations: postroom.Explanations{
				SalientFeatures:        []string{"sender is a shop"},
				MatchedDirections:      []string{"label receipts"},
				ConsideredAlternatives: []postroom.Alternative{{Action: postroom.Archive, Confidence: 0.3, WhyNot: "It may be needed."}},
			},
			Source: postroom.SourceModel, Model: llmtest.Model,
		},
		UndoHint: postroom.UndoHint{InverseAction: postroom.RemoveLabel, InverseParameters: postroom.Parameters{"label": "Receipts"}},
	}, answer)
}

func TestParseDecisionFindsTheDecisionInText(t *testing.T) {
	plain := llmtest.Decision("archive", "{}", 1)
	for name, text := range map[string]string{
		"alone":                    plain,
		"a fence":                  "Here you are:\n```json\n" + plain + "\n```\nAnything else?",
		"a fence without language": "```\n" + plain + "\n```",
		"a fence on one line":      "```" + plain + "```",
		"the first of two fences":  "```json\n" + plain + "\n```\n```json\n{}\n```",
		"amid words":               "I decide " + plain + " and that is {final}.",
		"braces in strings":        strings.Replace(plain, "Scripted.", `a } brace, a \" quote and a { more`, 1),
		"a fence that never ends":  "```json\n" + plain,
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := decide.Parse(&llm.Response{Text: text}, nil)
			require.NoError(t, err)
			require.Equal(t, postroom.Archive, answer.Decision.Action)
			require.Equal(t, postroom.None, answer.UndoHint.InverseAction)
		})
	}
}

func TestParseDecisionTellsFaultsApart(t *testing.T) {
	edit := func(part, with string) *llm.Response {
		require.Contains(t, full, part)
		return Complete(decide.RecordDecision, strings.Replace(full, part, with, 1))
	}
	for name, test := range map[string]struct {
		resp  *llm.Response
		want  error
		words string
	}{
		"nothing":                 {&llm.Response{}, decide.ErrNoToolCall, "record_decision"},
		"only words":              {&llm.Response{Text: "I would archive it."}, decide.ErrNoToolCall, ""},
		"braces that do not end":  {&llm.Response{Text: `{"decision": {`}, decide.ErrNoToolCall, ""},
		"another tool":            {Complete("send_mail", full), decide.ErrWrongTool, "send_mail instead of record_decision"},
		"two calls":               {&llm.Response{ToolCalls: []llm.ToolCall{{Name: decide.RecordDecision}, {Name: decide.RecordDecision}}}, decide.ErrWrongTool, "instead of record_decision once"},
		"no JSON":                 {Complete(decide.RecordDecision, "archive"), decide.ErrNotJSON, ""},
		"JSON cut short":          {Complete(decide.RecordDecision, full[:100]), decide.ErrNotJSON, ""},
		"more after the JSON":     {Complete(decide.RecordDecision, full+full), decide.ErrNotJSON, ""},
		"a list":                  {Complete(decide.RecordDecision, "[]"), decide.ErrNotJSON, ""},
		"a confidence in words":   {edit("0.92", `"high"`), decide.ErrNotJSON, "confidence"},
		"no decision":             {Complete(decide.RecordDecision, "{}"), decide.ErrInvalidDecision, "decision is missing"},
		"no confidence":           {edit(`"confidence": 0.92, `, ""), decide.ErrInvalidDecision, "confidence is missing"},
		"too sure":                {edit("0.92", "1.01"), decide.ErrInvalidDecision, "confidence 1.01 is outside 0 to 1"},
		"an unknown action":       {edit("apply_label", "explode"), decide.ErrInvalidDecision, `"explode" is not an action`},
		"no label":                {edit(`{"label": "Receipts"}`, "{}"), decide.ErrInvalidDecision, `needs the parameter "label"`},
		"a blank rationale":       {edit("It is a receipt.", " "), decide.ErrInvalidDecision, "rationale is blank"},
		"a blank why_not":         {edit("It may be needed.", ""), decide.ErrInvalidDecision, "considered_alternatives[0]: why_not is blank"},
		"an unsure alternative":   {edit("0.3", "-1"), decide.ErrInvalidDecision, "considered_alternatives[0]: confidence -1"},
		"an unknown inverse":      {edit("remove_label", "unexplode"), decide.ErrInvalidDecision, `undo_hint: "unexplode"`},
		"an unknown alternative":  {edit(`"archive"`, `"shred"`), decide.ErrInvalidDecision, `considered_alternatives[0]: "shred"`},
		"a fence without content": {&llm.Response{Text: "``````"}, decide.ErrNotJSON, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decide.Parse(test.resp, nil)
			require.ErrorIs(t, err, test.want)
			require.ErrorContains(t, err, test.words)
			for _, other := range []error{decide.ErrNoToolCall, decide.ErrWrongTool, decide.ErrNotJSON, decide.ErrInvalidDecision} {
				require.Equal(t, errors.Is(test.want, other), errors.Is(err, other))
			}
		})
	}
	var wrong *decide.WrongToolError
	_, err := decide.Parse(Complete("send_mail", full), nil)
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, decide.WrongToolError{Expected: "record_decision", Actual: "send_mail"}, *wrong)
}

func FuzzParseDecision(f *testing.F) {
	f.Add(full, true)
	f.Add("```json\n"+full+"\n```", false)
	f.Add(`{"a": "}\"{"} {`, false)
	f.Fuzz(func(t *testing.T, text string, asCall bool) {
		resp := &llm.Response{Text: text}
		if asCall {
			resp = Complete(decide.RecordDecision, text)
		}
		answer, err := decide.Parse(resp, nil)
		if err == nil {
			require.NoError(t, answer.Decision.Validate(nil, time.Now()), "what is accepted keeps the contract")
		}
	})
}

// An answer that names no address is not valid, and the model is told what to write.
func TestParseDecisionWantsAddresses(t *testing.T) {
	forward, _ := postroom.StandardKind(postroom.Forward)
	forward.Job = "send"
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{forward}})
	require.NoError(t, err)
	answered := func(to string) error {
		_, err := decide.Parse(Complete(decide.RecordDecision, llmtest.Decision("forward", `{"to": `+to+`}`, 1)), kinds)
		return err
	}
	require.NoError(t, answered(`["Bob <bob@example.com>"]`))
	for _, to := range []string{`"bob"`, `["bob@example.com", "x"]`, `"a@b.c\r\nBcc: x@y.z"`} {
		require.ErrorIs(t, answered(to), decide.ErrInvalidDecision)
		require.ErrorContains(t, answered(to), "an address such as name@example.com, or a list of addresses, not ")
	}
}
