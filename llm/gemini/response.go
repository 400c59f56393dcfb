package gemini

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"google.golang.org/genai"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/provider"
)

// A turn is an answer that arrives in one or several pieces.
type turn struct {
	resp    llm.Response
	reason  genai.FinishReason
	blocked string
	partial partialCall
}

func (c *Client) stream(ctx context.Context, req *llm.Request, contents []*genai.Content,
	config *genai.GenerateContentConfig) (*llm.Response, error) {
	next, stop := iter.Pull2(c.models.GenerateContentStream(ctx, c.caller.Model, contents, config))
	defer stop()
	var t turn
	for {
		piece, err := guarded(func() (*genai.GenerateContentResponse, error) {
			piece, err, ok := next()
			if !ok {
				return nil, io.EOF
			}
			return piece, err
		})
		if errors.Is(err, io.EOF) {
			return t.finish()
		}
		if err != nil {
			return nil, streamError(err)
		}
		if err := t.add(req, piece); err != nil {
			return nil, err
		}
	}
}

// guarded calls the SDK, which panics on some answers that are not objects, such as null.
func guarded(call func() (*genai.GenerateContentResponse, error)) (resp *genai.GenerateContentResponse, err error) {
	defer func() {
		if recover() != nil {
			resp, err = nil, provider.Cut()
		}
	}()
	resp, err = call()
	if err == nil && resp == nil {
		return nil, provider.Cut()
	}
	return resp, err
}

// streamError converts a failure within a stream to the usual form.
func streamError(err error) error {
	if fault, ok := errors.AsType[genai.APIError](err); ok {
		return &provider.Fault{Code: fault.Status, Text: fault.Message}
	}
	return err
}

func (t *turn) add(req *llm.Request, piece *genai.GenerateContentResponse) error {
	if u := piece.UsageMetadata; u != nil {
		t.resp.Usage = llm.Usage{
			InputTokens:     int(u.PromptTokenCount + u.ToolUsePromptTokenCount),
			OutputTokens:    int(u.CandidatesTokenCount + u.ThoughtsTokenCount),
			CacheReadTokens: int(u.CachedContentTokenCount), ReasoningTokens: int(u.ThoughtsTokenCount),
		}
	}
	t.resp.RequestID = cmp.Or(t.resp.RequestID, piece.ResponseID)
	if f := piece.PromptFeedback; f != nil && f.BlockReason != "" {
		t.blocked = string(f.BlockReason)
	}
	if len(piece.Candidates) == 0 {
		return nil
	}
	candidate := piece.Candidates[0]
	t.reason = cmp.Or(candidate.FinishReason, t.reason)
	if candidate.Content == nil {
		return nil
	}
	for _, part := range candidate.Content.Parts {
		if err := t.addPart(req, part); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) addPart(req *llm.Request, part *genai.Part) error {
	if part.Thought {
		return nil
	}
	if part.FunctionCall == nil {
		t.resp.Text += part.Text
		return provider.Emit(req, llm.Chunk{Text: part.Text})
	}
	if partial, err := t.addPartial(part.FunctionCall, part.ThoughtSignature); err != nil || partial && t.partial.open {
		return err
	} else if partial {
		call := t.resp.ToolCalls[len(t.resp.ToolCalls)-1]
		return provider.Emit(req, llm.Chunk{Tool: call.Name, Arguments: call.Arguments})
	}
	call := t.addCall(part.FunctionCall, part.ThoughtSignature)
	return provider.Emit(req, llm.Chunk{Tool: call.Name, Arguments: call.Arguments})
}

// addCall adds a call with the arguments that it has.
func (t *turn) addCall(from *genai.FunctionCall, signature []byte) llm.ToolCall {
	arguments, err := json.Marshal(from.Args)
	if err != nil || from.Args == nil {
		arguments = []byte("{}")
	}
	call := llm.ToolCall{
		ID:   cmp.Or(from.ID, fmt.Sprintf("%s%d", ownID, len(t.resp.ToolCalls)+1)),
		Name: from.Name, Arguments: string(arguments), State: base64.StdEncoding.EncodeToString(signature),
	}
	t.resp.ToolCalls = append(t.resp.ToolCalls, call)
	return call
}

func (t *turn) finish() (*llm.Response, error) {
	if t.blocked != "" {
		return nil, t.fault(llm.ErrRefused, t.blocked)
	}
	if t.partial.open { // its last piece is missing
		return nil, provider.Cut()
	}
	switch t.reason {
	case "":
		return nil, provider.Cut()
	case genai.FinishReasonStop:
		t.resp.Stop = llm.StopEnd
	case genai.FinishReasonMaxTokens:
		t.resp.Stop = llm.StopLength
		return &t.resp, nil
	case genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall, genai.FinishReasonTooManyToolCalls:
		// An answer without a usable call: the caller reports that to the model.
		t.resp.Stop = llm.StopEnd
	case genai.FinishReasonOther, genai.FinishReasonUnspecified:
		return nil, t.fault(llm.ErrUnavailable, string(t.reason))
	default:
		return nil, t.fault(llm.ErrRefused, string(t.reason))
	}
	if len(t.resp.ToolCalls) > 0 {
		t.resp.Stop = llm.StopTools
	}
	return &t.resp, nil
}

func (t *turn) fault(reason error, code string) error {
	return &provider.Fault{Reason: reason, Code: code, Text: "the answer ended by " + code, Usage: t.resp.Usage,
		Request: t.resp.RequestID}
}
