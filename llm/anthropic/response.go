package anthropic

import (
	"context"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/provider"
)

// response reads a whole answer.
func response(message *anthropic.Message) (*llm.Response, error) {
	// The SDK returns nil for the answer null.
	if message == nil {
		return nil, provider.Cut()
	}
	resp := &llm.Response{Usage: usage(message.Usage)}
	var text strings.Builder
	for _, block := range message.Content {
		switch block.Type {
		case "text":
			text.WriteString(block.Text)
		case "tool_use":
			resp.ToolCalls = append(resp.ToolCalls, llm.ToolCall{ID: block.ID, Name: block.Name, Arguments: string(block.Input)})
		}
	}
	resp.Text = text.String()
	switch message.StopReason {
	case anthropic.StopReasonRefusal:
		return nil, &provider.Fault{Reason: llm.ErrRefused, Code: "refusal", Text: resp.Text, Usage: resp.Usage}
	case anthropic.StopReasonModelContextWindowExceeded:
		return nil, &provider.Fault{Reason: llm.ErrContextTooLong, Code: string(message.StopReason), Usage: resp.Usage}
	case anthropic.StopReasonMaxTokens:
		resp.Stop = llm.StopLength
	case anthropic.StopReasonToolUse:
		resp.Stop = llm.StopTools
	case "":
		return nil, provider.Cut()
	default:
		resp.Stop = llm.StopEnd
	}
	return resp, nil
}

// usage sums the input tokens, which Anthropic counts in three parts.
func usage(u anthropic.Usage) llm.Usage {
	return llm.Usage{
		InputTokens:  int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens),
		OutputTokens: int(u.OutputTokens), ReasoningTokens: int(u.OutputTokensDetails.ThinkingTokens),
		CacheReadTokens: int(u.CacheReadInputTokens), CacheWriteTokens: int(u.CacheCreationInputTokens),
	}
}

func (c *Client) stream(ctx context.Context, req *llm.Request, params anthropic.MessageNewParams) (*llm.Response,
	error) {
	stream := c.messages.NewStreaming(ctx, params)
	defer func() { _ = stream.Close() }()
	var message anthropic.Message
	arguments := map[int64]string{}
	stopped := false
	for stream.Next() {
		event := stream.Current()
		stopped = stopped || event.Type == "message_stop"
		if event.Type == "message_start" {
			clear(arguments) // QUIRK: proxies begin a message twice; the SDK then drops what the first one had
		}
		arguments[event.Index] += event.Delta.PartialJSON
		if err := message.Accumulate(event); err != nil {
			return nil, &provider.Fault{Reason: llm.ErrUnavailable, Text: err.Error()}
		}
		if err := emit(req, &message, event); err != nil {
			return nil, err
		}
	}
	if err := stream.Err(); err != nil {
		if fault, ok := errors.AsType[*anthropic.Error](err); ok {
			return nil, provider.StreamFault([]byte(fault.RawJSON()))
		}
		return nil, err
	}
	if !stopped {
		return nil, provider.Cut()
	}
	// The SDK empties arguments that are not JSON; the caller must see the model's text.
	for i := range message.Content {
		if written := arguments[int64(i)]; written != "" {
			message.Content[i].Input = []byte(written)
		}
	}
	return response(&message)
}

func emit(req *llm.Request, message *anthropic.Message, event anthropic.MessageStreamEventUnion) error {
	if event.Type != "content_block_delta" {
		return nil
	}
	chunk := llm.Chunk{Text: event.Delta.Text, Arguments: event.Delta.PartialJSON}
	if chunk.Arguments != "" {
		chunk.Tool = message.Content[event.Index].Name
	}
	return provider.Emit(req, chunk)
}
