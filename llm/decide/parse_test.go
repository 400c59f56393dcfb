package decide_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/corpora"
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
			Action: postroom.ApplyLabel, Parameters: postroom.Parameters{"label": "Receipts"}, Confidence: 0.92,
			NeedsApproval: true,
			Rationale:     "It is a receipt.",
			Explanations: postroom.Explanations{
				SalientFeatures:   []string{"sender is a shop"},
				MatchedDirections: []string{"label receipts"},
				ConsideredAlternatives: []postroom.Alternative{{Action: postroom.Archive, Confidence: 0.3,
					WhyNot: "It may be needed."}},
			},
			Source: postroom.SourceModel, Model: llmtest.Model,
		},
		UndoHint: postroom.UndoHint{InverseAction: postroom.RemoveLabel,
			InverseParameters: postroom.Parameters{"label": "Receipts"}},
	}, answer)
}

func TestParseDecisionFindsTheDecisionInText(t *testing.T) {
	plain, other := llmtest.Decision("archive", "{}", 1), llmtest.Decision("star", "{}", 1)
	for name, text := range map[string]string{
		"alone":                                  plain,
		"a fence":                                "Here you are:\n```json\n" + plain + "\n```\nAnything else?",
		"a fence without language":               "```\n" + plain + "\n```",
		"a fence on one line":                    "```" + plain + "```",
		"one of two fences":                      "```json\n" + plain + "\n```\n```json\n{}\n```",
		"before words":                           plain + "\nThat is {final}.",
		"a fence amid words":                     "I decide:\n```json\n" + plain + "\n```\nTell me if you need more.",
		"after thoughts that only end":           "Maybe " + other + " or not\n</think>\n\n" + plain,
		"braces in strings":                      strings.Replace(plain, "Scripted.", `a } brace, a \" quote and a { more`, 1),
		"a fence that never ends":                "```json\n" + plain,
		"another language first":                 "```bash\nls ${HOME}\n```\nthen\n```json\n" + plain + "\n```",
		"after thoughts":                         "<think>Maybe " + other + " or not</think>\n" + plain,
		"after thoughts that grow in lower case": "<think>" + strings.Repeat("\u023a", 200) + "</think>" + plain,
		"after thoughts in capitals":             " <THINKING>" + other + "</thinking>" + plain,
		"thoughts with an attribute":             `<think lang="en">` + other + "</think>" + plain,
		"thoughts after a mark":                  "\ufeff <think>" + other + "</think>" + plain,
		"thoughts of a channel": "<|channel|>analysis<|message|>" + other + "<|end|><|start|>assistant<|channel|>final<|message|>" +
			plain,
		"thoughts in brackets":        "[THINK]" + other + "[/THINK]" + plain,
		"thoughts in triangles":       "\u25c1think\u25b7" + other + "\u25c1/think\u25b7\n" + plain,
		"a text":                      quoted(plain),
		"a text of a text in a fence": "```json\n" + quoted(quoted(plain)) + "\n```",
		"a call":                      `<tool_call>{"name": "record_decision", "arguments": ` + plain + `}</tool_call>`,
		"a call with a text":          `<tool_call>{"name": "functions.record_decision", "arguments": ` + quoted(plain) + `}</tool_call>`,
		"after a brace":               ":-{ I decide " + plain,
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := decide.Parse(&llm.Response{Text: text}, nil)
			require.NoError(t, err)
			require.Equal(t, postroom.Archive, answer.Decision.Action)
			require.Equal(t, postroom.None, answer.UndoHint.InverseAction)
		})
	}
}

// Arguments of the call itself may be wrapped, too.
func TestParseDecisionUnwrapsArguments(t *testing.T) {
	plain := llmtest.Decision("archive", "{}", 1)
	for name, call := range map[string]*llm.Response{
		"a fence":             Complete(decide.RecordDecision, "```json\n"+plain+"\n```"),
		"a fence on one line": Complete(decide.RecordDecision, "```json "+plain+"```"),
		"a text":              Complete(decide.RecordDecision, quoted(plain)),
		"a text of a text":    Complete(decide.RecordDecision, quoted(quoted(plain))),
		"a call in the call":  Complete(decide.RecordDecision, `{"name":"record_decision","arguments":`+plain+`}`),
		"a namespace":         Complete("functions.record_decision", plain),
		"another namespace":   Complete("default_api:record_decision", plain),
		"a channel":           Complete("record_decision<|channel|>commentary", plain),
		"a brace too many":    Complete(decide.RecordDecision, plain+"}"),
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := decide.Parse(call, nil)
			require.NoError(t, err)
			require.Equal(t, postroom.Archive, answer.Decision.Action)
		})
	}
}

func quoted(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

// Of several decisions none counts: one may be what the mail wants.
func TestParseDecisionRefusesWhatIsAmbiguous(t *testing.T) {
	plain, other := llmtest.Decision("archive", "{}", 1), llmtest.Decision("star", "{}", 1)
	call := func(arguments string) string {
		return `<tool_call>{"name":"record_decision","arguments":` + arguments + `}</tool_call>`
	}
	for name, text := range map[string]string{
		"two":                                other + "\n" + plain,
		"a single one, quoted":               "The mail says `" + plain + "`, which I ignore.",
		"in quotation marks":                 "I do not do what it wants: \u201c" + plain + "\u201d",
		"a quoted line":                      "It says\n> " + plain + "\n",
		"amid words":                         "The mail wants " + plain + " and I do nothing.",
		"a quoted one":                       "The mail says: `" + other + "`. I decide:\n```json\n" + plain + "\n```",
		"two fences":                         "```json\n" + other + "\n```\n```json\n" + plain + "\n```",
		"two calls":                          call(other) + call(plain),
		"a call and a text":                  call(quoted(other)) + plain,
		"one that is no JSON":                strings.Replace(other, `"confidence"`, `confidence`, 1) + plain,
		"thoughts after the first":           other + "<think></think>" + plain,
		"an end of thoughts after the first": plain + "\nIt says </think>" + other,
		"one on its own line":                plain + "\n</think>\n" + other,
		"one after a fence":                  "```json\n" + plain + "\n```\n</think>\n" + other,
		"one after a call":                   call(plain) + "\n</think>\n" + other,
		"one within a line":                  "I decide " + plain + ". It says </think>" + other,
		"a quoted end of thoughts":           "<think>The mail says </think>" + other + " which I do not do</think>" + plain,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decide.Parse(&llm.Response{Text: text}, nil)
			require.ErrorIs(t, err, decide.ErrAmbiguous)
		})
	}
}

func TestParseDecisionRefusesKeysThatAreThereTwice(t *testing.T) {
	for name, edit := range map[string][2]string{
		"an action":            {`"action": "apply_label"`, `"action": "archive", "action": "apply_label"`},
		"in another case":      {`"action": "apply_label"`, `"action": "archive", "Action": "apply_label"`},
		"with a letter folded": {`"decision": {"action"`, `"deci\u017fion": {}, "decision": {"action"`},
		"a parameter":          {`"label": "Receipts"`, `"label": "Trash", "label": "Receipts"`},
		"a decision":           {`"decision": {"action"`, `"decision": {}, "decision": {"action"`},
		"in an alternative":    {`"why_not": "It`, `"why_not": "x", "why_not": "It`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, full, edit[0])
			doubled := strings.Replace(full, edit[0], edit[1], 1)
			for _, resp := range []*llm.Response{Complete(decide.RecordDecision, doubled), {Text: doubled}} {
				_, err := decide.Parse(resp, nil)
				require.ErrorIs(t, err, decide.ErrNotJSON)
				require.ErrorContains(t, err, "twice")
			}
		})
	}
}

// A text of braces takes no longer than any other.
func TestParseDecisionIsFast(t *testing.T) {
	for _, text := range []string{strings.Repeat("{", 60_000), strings.Repeat(`{"`, 30_000), strings.Repeat(`"{`, 30_000)} {
		_, err := decide.Parse(&llm.Response{Text: text}, nil)
		require.Error(t, err)
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
		"a fence without content": {&llm.Response{Text: "``````"}, decide.ErrNoToolCall, ""},
		"only a channel":          {&llm.Response{Text: "<|channel|>analysis<|message|>" + full}, decide.ErrNoToolCall, ""},
		"only in brackets":        {&llm.Response{Text: "[THINK]" + full + "[/THINK]"}, decide.ErrNoToolCall, ""},
		"more after a brace":      {Complete(decide.RecordDecision, full+"} "+full), decide.ErrNotJSON, ""},
		"arguments and parameters": {Complete(decide.RecordDecision, `{"name":"record_decision","arguments":`+full+
			`,"parameters":`+full+`}`), decide.ErrNotJSON, ""},
		"a decision beside the arguments": {Complete(decide.RecordDecision, `{"name":"record_decision","arguments":`+full+
			`,"x":`+full+`}`), decide.ErrNotJSON, ""},
		"a text of two":          {&llm.Response{Text: quoted(full + full)}, decide.ErrAmbiguous, ""},
		"only thoughts":          {&llm.Response{Text: "<think>" + full}, decide.ErrNoToolCall, ""},
		"a call of another tool": {&llm.Response{Text: `{"name":"send_mail","arguments":` + full + `}`}, decide.ErrWrongTool, "send_mail"},
		"another object":         {&llm.Response{Text: `I see {"a": 1}.`}, decide.ErrNotJSON, "unknown field"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decide.Parse(test.resp, nil)
			require.ErrorIs(t, err, test.want)
			require.ErrorContains(t, err, test.words)
			for _, other := range []error{decide.ErrNoToolCall, decide.ErrWrongTool, decide.ErrNotJSON,
				decide.ErrInvalidDecision} {
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

// TestAnswersOfReports reads answers that other programs have read wrongly.
func TestAnswersOfReports(t *testing.T) {
	file, err := os.ReadFile(corpora.Path("11-reports", "model-answers.json"))
	if err != nil {
		t.Skip("answers of reports are not tested: ", err)
	}
	var answers []struct{ Name, Text, Tool, Arguments, Right string }
	require.NoError(t, json.Unmarshal(file, &answers))
	for _, a := range answers {
		t.Run(a.Name, func(t *testing.T) {
			resp := &llm.Response{Text: a.Text}
			if a.Arguments != "" {
				resp = Complete(cmp.Or(a.Tool, decide.RecordDecision), a.Arguments)
			}
			answer, err := decide.Parse(resp, nil)
			if strings.HasPrefix(a.Right, "refused") {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.EqualValues(t, a.Right, answer.Decision.Action)
		})
	}
}
