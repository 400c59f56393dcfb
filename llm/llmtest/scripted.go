package llmtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
)

// A Turn is one answer of a [Scripted] client: a response or an error.
type Turn struct {
	Response *llm.Response
	Err      error
}

// Model is the model's name in the answers of [Scripted].
const Model = "llmtest::scripted"

// Calls answers with one call of the tool.
func Calls(tool, arguments string) Turn {
	return Turn{Response: &llm.Response{
		Model:     Model,
		ToolCalls: []llm.ToolCall{{ID: "call_1", Name: tool, Arguments: arguments}},
		Usage:     llm.Usage{InputTokens: 100, OutputTokens: 20},
	}}
}

// Decides answers with the decision: action, its parameters as JSON, and the confidence.
func Decides(action, parameters string, confidence float64) Turn {
	return Calls(decide.RecordDecision, Decision(action, parameters, confidence))
}

// Decision returns the JSON of a decision that meets the contract.
func Decision(action, parameters string, confidence float64) string {
	return fmt.Sprintf(
		`{"decision":{"action":%q,"parameters":%s,"confidence":%v,"needs_approval":false,"rationale":"Scripted."},`+
			`"explanations":{"salient_features":[],"matched_directions":[],"considered_alternatives":[]},`+
			`"undo_hint":{"inverse_action":"none","inverse_parameters":{}}}`, action, parameters, confidence)
}

// Says answers with text and no tool call.
func Says(text string) Turn { return Turn{Response: &llm.Response{Model: Model, Text: text}} }

// Fails answers with an error.
func Fails(err error) Turn { return Turn{Err: err} }

// A Scripted client returns prepared answers in order and records the requests. A call without an answer left fails the
// test, and so does an answer that is left when the test ends.
type Scripted struct {
	t testing.TB

	mu       sync.Mutex
	turns    []Turn
	requests []llm.Request
}

var _ llm.Client = (*Scripted)(nil)

// NewScripted makes a scripted client for a test.
func NewScripted(t testing.TB, turns ...Turn) *Scripted {
	s := &Scripted{t: t, turns: slices.Clone(turns)}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if left := len(s.turns); left > 0 {
			t.Errorf("llmtest: %d scripted answers were never asked for", left)
		}
	})
	return s
}

// Complete returns the next answer.
func (s *Scripted) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, copyOf(req))
	if len(s.turns) == 0 {
		s.t.Errorf("llmtest: call %d has no scripted answer", len(s.requests))
		return nil, &llm.Error{Provider: "llmtest", Reason: llm.ErrBadRequest,
			Err: fmt.Errorf("call %d has no scripted answer", len(s.requests))}
	}
	turn := s.turns[0]
	s.turns = s.turns[1:]
	return turn.Response, turn.Err
}

// Requests returns the requests that the client received, in order.
func (s *Scripted) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func copyOf(req *llm.Request) llm.Request {
	copied := *req
	copied.Messages = slices.Clone(req.Messages)
	copied.Tools = slices.Clone(req.Tools)
	return copied
}
