package llm

import (
	"context"
	"encoding/json"
)

// A Client asks one language model of one provider, and is safe for use by several goroutines. Its errors are [*Error]s
// where the provider has answered or could not be reached.
//
// An implementation must not retry: what a failure means is decided above it, and the job queue waits better.
type Client interface {
	Complete(ctx context.Context, req *Request) (*Response, error)
}

// A Request is a conversation that the model is to continue.
type Request struct {
	Messages []Message // a system message first, at least one other after it
	Tools    []Tool
	// ForceTool names the tool that the model has to call; empty leaves the choice to the model.
	ForceTool string
}

// A Role tells who speaks.
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
	// ToolCallID names the call that a message of role tool answers. Each call needs an answer before the model speaks
	// again.
	ToolCallID string
}

// A Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of the arguments: a JSON Schema of type object
}

// A ToolCall is the model's wish to call a tool. Its arguments are what the model wrote, which need not be JSON.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// A Response is the model's turn.
type Response struct {
	Text      string
	ToolCalls []ToolCall
	// Model is who answered, as provider::model.
	Model string
	Usage Usage
}

// Usage is what a call has cost, in tokens.
type Usage struct {
	InputTokens  int
	OutputTokens int
}
