package llm

import (
	"context"
	"encoding/json"
)

// A Client calls one language model of one provider. It is safe for concurrent use. Its errors are [*Error]s when the
// provider has answered or could not be reached.
//
// An implementation must not retry: the caller decides what a failure means, and the job queue retries.
type Client interface {
	Complete(ctx context.Context, req *Request) (*Response, error)
}

// A Request is a conversation for the model to continue.
type Request struct {
	Messages []Message // a system message first, at least one other after it
	Tools    []Tool
	// ForceTool names the tool that the model must call; empty leaves the choice to the model.
	ForceTool string
}

// A Role names the speaker of a message.
type Role string

// The roles.
const (
	RoleSystem    Role = "system"    // the host: rules of the conversation
	RoleUser      Role = "user"      // the host: the task
	RoleAssistant Role = "assistant" // the model
	RoleTool      Role = "tool"      // the host: what a tool call of the model came to
)

// A Message is one turn of the conversation.
type Message struct {
	Role Role
	Text string
	// ToolCalls are the calls that the model made with this message.
	ToolCalls []ToolCall
	// ToolCallID is the id of the call that a message of role tool answers. Each call must be answered before the next
	// turn of the model.
	ToolCallID string
}

// A Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of the arguments: a JSON Schema of type object
}

// A ToolCall is a request of the model to call a tool. Its arguments are as the model wrote them and may not be JSON.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// A Response is the model's turn.
type Response struct {
	Text      string
	ToolCalls []ToolCall
	// Model names the model that answered, as provider::model.
	Model string
	Usage Usage
}

// Usage is the cost of a call, in tokens.
type Usage struct {
	InputTokens  int
	OutputTokens int
}
