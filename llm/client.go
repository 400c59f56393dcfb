package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A Client calls one language model of one provider. It is safe for concurrent use. Its errors are [*Error]s, except
// when ctx ends.
//
// An implementation must not retry, wait for a limit or ask another model: [Retrying], [Limited] and [Fallback] do, and
// after them the job queue.
type Client interface {
	Complete(ctx context.Context, req *Request) (*Response, error)
}

// A Request is a conversation for the model to continue. A client does not modify it.
type Request struct {
	Messages []Message // a system message first or none, at least one other after it
	Tools    []Tool
	// ForceTool names the tool that the model must call; empty leaves the choice to the model.
	ForceTool string
	// Output is the form of the text of the answer; nil leaves it free. It goes with no tools.
	Output *Output
	// MaxOutputTokens bounds the answer. Default 0: the bound of the client.
	MaxOutputTokens int
	// Temperature is the randomness of the answer; nil leaves it to the provider. Some models refuse it.
	Temperature *float64
	// Stream receives the answer while it arrives, in the goroutine of Complete. The response holds the whole answer all
	// the same. An error of Stream ends the call and is returned as it is. Default nil.
	Stream func(Chunk) error

	// AccountID is the account that the call is for; [Metered] keeps budgets and answers by it. Empty for none.
	AccountID string
	// About names the subject of the call, such as the id of a message; it goes on record. Empty for none.
	About string
	// Purpose is the purpose of the call in a word, such as "classify"; it goes on record.
	Purpose string
	// Random lists random strings within the messages that have no meaning. Requests that differ only in these are equal
	// to [Request.Fingerprint].
	Random []string
	// Same, if not empty, replaces the messages in [Request.Fingerprint]: requests with the same Same, tools and bounds
	// have the same answer.
	Same string
	// Asking, if not empty, sets the request apart in [Request.Fingerprint]: it has no answer of another asking.
	Asking string
}

// Complete calls a client of whoever wrote it.
func Complete(ctx context.Context, c Client, req *Request) (*Response, error) {
	if req == nil {
		return nil, req.Validate()
	}
	resp, err := c.Complete(ctx, req)
	if err == nil && resp == nil {
		err = &Error{Provider: "llm", Reason: ErrUnavailable,
			Err: fmt.Errorf("the client %T returned neither an answer nor an error", c)}
	}
	return resp, err
}

// Validate returns an [*Error] with [ErrBadRequest] for a request that no provider takes.
func (r *Request) Validate() error {
	if err := r.validate(); err != nil {
		return &Error{Provider: "llm", Reason: ErrBadRequest, Err: err}
	}
	return nil
}

func (r *Request) validate() error {
	if r == nil {
		return errors.New("the request is nil")
	}
	spoken := false
	for i, m := range r.Messages {
		switch {
		case m.Role == RoleSystem && i > 0:
			return fmt.Errorf("message %d has the role system; only the first may", i)
		case m.Role == RoleTool && m.ToolCallID == "":
			return fmt.Errorf("message %d answers a tool call and does not name it", i)
		case m.Role != RoleSystem && m.Role != RoleUser && m.Role != RoleAssistant && m.Role != RoleTool:
			return fmt.Errorf("message %d has the unknown role %q", i, string(m.Role))
		}
		spoken = spoken || m.Role != RoleSystem
	}
	if !spoken {
		return errors.New("there is no message besides the system message")
	}
	forced := r.ForceTool == ""
	for _, t := range r.Tools {
		if !json.Valid(t.Schema) {
			return fmt.Errorf("the schema of tool %s is not JSON", t.Name)
		}
		forced = forced || t.Name == r.ForceTool
	}
	switch {
	case !forced:
		return fmt.Errorf("the tool %s is forced and not among the tools", r.ForceTool)
	case r.Output != nil && len(r.Tools) > 0:
		return errors.New("there are tools and a form of the text; give one of them")
	case r.Output != nil && (r.Output.Name == "" || !json.Valid(r.Output.Schema)):
		return errors.New("the form of the text needs a name and a schema in JSON")
	case r.MaxOutputTokens < 0:
		return fmt.Errorf("MaxOutputTokens is %d; it must be at least 0", r.MaxOutputTokens)
	}
	return nil
}

// A Role names the speaker of a message.
type Role string

// The roles.
const (
	RoleSystem    Role = "system"    // the host: rules of the conversation
	RoleUser      Role = "user"      // the host: the task
	RoleAssistant Role = "assistant" // the model
	RoleTool      Role = "tool"      // the host: the result of a tool call of the model
)

// A Message is one turn of the conversation.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	// ToolCalls are the calls that the model made with this message.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// ToolCallID is the id of the call that a message of role tool answers. Each call must be answered before the next
	// turn of the model.
	ToolCallID string `json:"tool_call_id,omitempty"`
}

// A Tool is a function that the model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"` // of the arguments: a JSON Schema of type object
}

// An Output is the form of a text: JSON that fits a schema. Providers follow it without a guarantee, so the answer
// needs a check.
type Output struct {
	Name   string          `json:"name"` // letters, digits, underscores and dashes
	Schema json.RawMessage `json:"schema"`
}

// A ToolCall is a request of the model to call a tool. Its arguments are as the model wrote them and may not be JSON.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	// State must be returned unchanged to the provider with the call. Empty for most providers.
	State string `json:"state,omitempty"`
}

// A Chunk is a piece of an answer that is being streamed: of its text, or of the arguments of a tool call.
type Chunk struct {
	Text      string
	Tool      string // the name of the tool; each piece has it
	Arguments string
}

// A Stop is the reason why an answer ended. A refusal is an [ErrRefused] and no answer.
type Stop string

// The reasons.
const (
	StopEnd    Stop = "end"    // the model had said everything
	StopTools  Stop = "tools"  // the model waits for the results of its tool calls
	StopLength Stop = "length" // the bound of the answer was reached: the answer is cut
)

// A Response is the model's turn.
type Response struct {
	Text      string     `json:"text,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	Stop      Stop       `json:"stop,omitempty"`
	// Model names the model that answered, as provider::model.
	Model string `json:"model"`
	Usage Usage  `json:"usage"`
	// RequestID is the provider's name for the exchange.
	RequestID string `json:"request_id,omitempty"`
	// Limits are the provider's rate limits after the call.
	Limits Limits `json:"-"`
	// CallID is the id of the call on record, see [Call]; of a stored answer, that of the call that made it. Only
	// [Metered] sets it. Empty in answers that were stored before it was.
	CallID string `json:"call_id,omitempty"`
	// Cost is the cost of the call; only [Metered] sets it, by its prices.
	Cost Money `json:"cost,omitempty"`
	// Cached reports that the answer was stored and that the provider was not asked. Only [Metered] sets it.
	Cached bool `json:"-"`
}

// Message returns the turn as a message, to be continued.
func (r *Response) Message() Message {
	return Message{Role: RoleAssistant, Text: r.Text, ToolCalls: r.ToolCalls}
}

// Usage counts the tokens of a call.
type Usage struct {
	InputTokens  int `json:"input_tokens"`  // all input tokens, including those of the provider's cache
	OutputTokens int `json:"output_tokens"` // all output tokens, including those of reasoning
	// CacheReadTokens and CacheWriteTokens are the input tokens that were read from and written to the provider's cache.
	CacheReadTokens  int `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens int `json:"cache_write_tokens,omitempty"`
	// ReasoningTokens are the output tokens that the model did not show.
	ReasoningTokens int `json:"reasoning_tokens,omitempty"`
}

// Total is the sum of input and output.
func (u Usage) Total() int { return u.InputTokens + u.OutputTokens }
