package decide

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
)

// The faults of a model's answer; each error of [Parse] wraps one of these.
var (
	// ErrNoToolCall reports that the model called no tool and wrote no JSON.
	ErrNoToolCall = errors.New("the answer calls no tool")
	// ErrWrongTool reports that the model called another tool; a [WrongToolError] names both.
	ErrWrongTool = errors.New("the answer calls the wrong tool")
	// ErrNotJSON reports that the arguments are not JSON of the right shape.
	ErrNotJSON = errors.New("the decision is not the JSON that was asked for")
	// ErrTooLong reports that the answer is longer than allowed, or was cut.
	ErrTooLong = errors.New("the answer is too long")
	// ErrAmbiguous reports that the text has more than one decision.
	ErrAmbiguous = errors.New("the answer has more than one decision")
	// ErrInvalidDecision reports that the arguments break the contract.
	ErrInvalidDecision = errors.New("the decision is not valid")
)

// A WrongToolError is an [ErrWrongTool].
type WrongToolError struct{ Expected, Actual string }

// Error names both tools.
func (e *WrongToolError) Error() string {
	return fmt.Sprintf("%v: %s instead of %s", ErrWrongTool, e.Actual, e.Expected)
}

// Is makes the error match [ErrWrongTool].
func (e *WrongToolError) Is(target error) bool { return target == ErrWrongTool }

// An Answer is a model's decision, with the action that the model expects to undo it. That hint is for people: package
// undo uses the recorded change of the action.
type Answer struct {
	Decision postroom.Decision
	UndoHint postroom.UndoHint

	enrichment json.RawMessage // as the model wrote it, unchecked
}

// answerJSON is the contract.
type answerJSON struct {
	Decision *struct {
		Action        postroom.ActionType `json:"action"`
		Parameters    postroom.Parameters `json:"parameters"`
		Confidence    *float64            `json:"confidence"`
		NeedsApproval bool                `json:"needs_approval"`
		Rationale     string              `json:"rationale"`
	} `json:"decision"`
	Explanations postroom.Explanations `json:"explanations"`
	UndoHint     struct {
		InverseAction     postroom.ActionType `json:"inverse_action"`
		InverseParameters postroom.Parameters `json:"inverse_parameters"`
	} `json:"undo_hint"`
	Reply      replyJSON       `json:"reply"`
	Enrichment json.RawMessage `json:"enrichment"`
}

// Parse parses a model's answer: the arguments of its one call of [RecordDecision] or, from a model that calls no tool,
// the one object in its text that holds a decision. Thoughts before the answer do not count, nor do fences, JSON in a
// JSON text, and objects with the name of the tool and its arguments. A key that is there twice is an error. Parse sets
// Source and Model of the decision. The action must be one of the kinds, with valid parameters; nil means the kinds
// that package gmail carries out.
func Parse(resp *llm.Response, kinds *postroom.Kinds) (Answer, error) {
	if resp == nil {
		return Answer{}, fmt.Errorf("%w: there is no answer", ErrNoToolCall)
	}
	switch n := size(resp); {
	case n > maxAnswer:
		return Answer{}, fmt.Errorf("%w: it has %d bytes, and %d are allowed", ErrTooLong, n, maxAnswer)
	case resp.Stop == llm.StopLength:
		return Answer{}, fmt.Errorf("%w: it was cut at the bound of the answer; write less", ErrTooLong)
	}
	arguments, err := argumentsOf(resp)
	if err != nil {
		return Answer{}, err
	}
	var parsed answerJSON
	decoder := json.NewDecoder(strings.NewReader(arguments))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&parsed); err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	if after := arguments[decoder.InputOffset():]; strings.Trim(after, "} \t\r\n") != "" {
		return Answer{}, fmt.Errorf("%w: something follows the object", ErrNotJSON)
	}
	return parsed.answer(resp.Model, kinds)
}

func (p *answerJSON) answer(model string, kinds *postroom.Kinds) (Answer, error) {
	switch {
	case p.Decision == nil:
		return Answer{}, fmt.Errorf("%w: decision is missing", ErrInvalidDecision)
	case p.Decision.Confidence == nil:
		return Answer{}, fmt.Errorf("%w: decision: confidence is missing", ErrInvalidDecision)
	}
	hint := p.UndoHint
	if hint.InverseAction == "" {
		hint.InverseAction = postroom.None
	}
	a := Answer{
		Decision: postroom.Decision{
			Action: p.Decision.Action, Parameters: p.Decision.Parameters, Confidence: *p.Decision.Confidence,
			NeedsApproval: p.Decision.NeedsApproval, Rationale: p.Decision.Rationale, Explanations: p.Explanations,
			Source: postroom.SourceModel, Model: model, Reply: postroom.ReplyNeed(p.Reply),
		},
		UndoHint:   postroom.UndoHint{InverseAction: hint.InverseAction, InverseParameters: hint.InverseParameters},
		enrichment: p.Enrichment,
	}
	faults := a.Decision.Validate(kinds, time.Now())
	if !kinds.Knows(hint.InverseAction) {
		faults = errors.Join(faults, fmt.Errorf("undo_hint: %q is not an action", string(hint.InverseAction)))
	}
	if faults != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrInvalidDecision, faults)
	}
	return a, nil
}

// size is the number of bytes that the model wrote.
func size(resp *llm.Response) int {
	n := len(resp.Text)
	for _, c := range resp.ToolCalls {
		n += len(c.Name) + len(c.Arguments)
	}
	return n
}

func argumentsOf(resp *llm.Response) (string, error) {
	switch len(resp.ToolCalls) {
	case 0:
		found, err := findDecision(resp.Text)
		if err != nil {
			return "", err
		}
		return unwrap(found)
	case 1:
		if call := resp.ToolCalls[0]; !isRecordDecision(call.Name) {
			return "", &WrongToolError{Expected: RecordDecision, Actual: call.Name}
		}
		return unwrap(resp.ToolCalls[0].Arguments)
	default:
		names := make([]string, len(resp.ToolCalls))
		for i, call := range resp.ToolCalls {
			names[i] = call.Name
		}
		return "", &WrongToolError{Expected: RecordDecision + " once", Actual: strings.Join(names, ", ")}
	}
}
