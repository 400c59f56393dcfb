package openai

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/provider"
)

// response reads a whole answer.
func response(completion *openai.ChatCompletion) (*llm.Response, error) {
	// The SDK returns nil for the answer null.
	if completion == nil {
		completion = &openai.ChatCompletion{}
	}
	resp := &llm.Response{Usage: usage(completion.Usage)}
	if len(completion.Choices) == 0 {
		return nil, &provider.Fault{Reason: llm.ErrUnavailable, Text: "the answer has no choice", Usage: resp.Usage}
	}
	choice := completion.Choices[0]
	resp.Text = choice.Message.Content
	for _, call := range choice.Message.ToolCalls {
		resp.ToolCalls = append(resp.ToolCalls, llm.ToolCall{ID: call.ID, Name: call.Function.Name,
			Arguments: call.Function.Arguments})
	}
	return finish(resp, choice.FinishReason, choice.Message.Refusal)
}

// finish sets the reason for the end of the answer, or returns its refusal.
func finish(resp *llm.Response, reason, refusal string) (*llm.Response, error) {
	switch {
	case refusal != "" || reason == "content_filter":
		return nil, &provider.Fault{Reason: llm.ErrRefused, Code: reason, Text: refusal, Usage: resp.Usage}
	case reason == "length":
		resp.Stop = llm.StopLength
	case len(resp.ToolCalls) > 0:
		resp.Stop = llm.StopTools
	default:
		resp.Stop = llm.StopEnd
	}
	return resp, nil
}

func usage(u openai.CompletionUsage) llm.Usage {
	return llm.Usage{
		InputTokens: int(u.PromptTokens), OutputTokens: int(u.CompletionTokens),
		CacheReadTokens: int(u.PromptTokensDetails.CachedTokens),
		ReasoningTokens: int(u.CompletionTokensDetails.ReasoningTokens),
	}
}

// A turn is an answer that is being streamed.
type turn struct {
	resp    llm.Response
	reason  string
	refusal string
}

func (c *Client) stream(ctx context.Context, req *llm.Request, params openai.ChatCompletionNewParams) (*llm.Response,
	error) {
	// Without it there are no tokens to count.
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := c.chat.NewStreaming(ctx, params)
	defer func() { _ = stream.Close() }()
	var t turn
	for stream.Next() {
		chunk := stream.Current()
		if chunk.Usage.TotalTokens > 0 {
			t.resp.Usage = usage(chunk.Usage)
		}
		if len(chunk.Choices) == 0 {
			continue
		}
		choice := chunk.Choices[0]
		t.refusal += choice.Delta.Refusal
		if choice.FinishReason != "" {
			t.reason = choice.FinishReason
		}
		if err := t.add(req, choice.Delta); err != nil {
			return nil, err
		}
	}
	if err := stream.Err(); err != nil {
		if fault, ok := errors.AsType[*ssestream.StreamError](err); ok {
			return nil, provider.StreamFault(fault.Event.Data)
		}
		return nil, err
	}
	if t.reason == "" {
		return nil, provider.Cut()
	}
	return finish(&t.resp, t.reason, t.refusal)
}

// maxCalls bounds the tool calls of an answer: the server chooses their indexes.
const maxCalls = 128

func (t *turn) add(req *llm.Request, delta openai.ChatCompletionChunkChoiceDelta) error {
	t.resp.Text += delta.Content
	if err := provider.Emit(req, llm.Chunk{Text: delta.Content}); err != nil {
		return err
	}
	for _, piece := range delta.ToolCalls {
		if piece.Index < 0 || piece.Index >= maxCalls {
			return &provider.Fault{Reason: llm.ErrUnavailable, Text: "the answer has a tool call beyond 128"}
		}
		for int64(len(t.resp.ToolCalls)) <= piece.Index {
			t.resp.ToolCalls = append(t.resp.ToolCalls, llm.ToolCall{})
		}
		call := &t.resp.ToolCalls[piece.Index]
		if piece.ID != "" {
			call.ID = piece.ID
		}
		if piece.Function.Name != "" {
			call.Name = piece.Function.Name
		}
		call.Arguments += piece.Function.Arguments
		if piece.Function.Arguments == "" {
			continue
		}
		if err := provider.Emit(req, llm.Chunk{Tool: call.Name, Arguments: piece.Function.Arguments}); err != nil {
			return err
		}
	}
	return nil
}
