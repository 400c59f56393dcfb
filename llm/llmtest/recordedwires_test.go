package llmtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/anthropic"
	"github.com/postroom-go/postroom/llm/gemini"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/llm/openai"
)

func TestRecordedChatCompletions(t *testing.T) {
	requireCorpus(t)
	exchanges := map[string]*exchange{}
	for _, pattern := range []string{"langchaingo/openai/*.httprr", "langchaingo/agents/*.httprr",
		"langchaingo/chains/*.httprr"} {
		maps.Copy(exchanges, traces(t, pattern, "/chat/completions"))
	}
	client := func(url string) llm.Client {
		c, err := openai.New(openai.Config{Model: "fake", Key: "x", BaseURL: url, HTTPClient: llmtest.HTTPClient(t)})
		require.NoError(t, err)
		return c
	}
	replay(t, exchanges, client, saidByChat, map[string]llm.Stop{"stop": llm.StopEnd, "tool_calls": llm.StopTools,
		"length": llm.StopLength})
}

func saidByChat(t *testing.T, e *exchange) (s said) {
	type message struct {
		Content   string
		ToolCalls []struct {
			Index    int
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	for _, event := range e.events(t) {
		var answer struct {
			Choices []struct {
				Message, Delta message
				FinishReason   string `json:"finish_reason"`
			}
			Usage struct {
				Input  int `json:"prompt_tokens"`
				Output int `json:"completion_tokens"`
			}
		}
		require.NoError(t, json.Unmarshal(event, &answer))
		s.input, s.output = max(s.input, answer.Usage.Input), max(s.output, answer.Usage.Output)
		for _, c := range answer.Choices {
			s.text += c.Message.Content + c.Delta.Content
			for _, call := range append(c.Message.ToolCalls, c.Delta.ToolCalls...) {
				if call.ID != "" {
					s.calls = append(s.calls, llm.ToolCall{ID: call.ID})
				}
				last := &s.calls[len(s.calls)-1]
				last.Name += call.Function.Name
				last.Arguments += call.Function.Arguments
			}
			if c.FinishReason != "" {
				s.end = c.FinishReason
			}
		}
	}
	return s
}

func TestRecordedMessages(t *testing.T) {
	requireCorpus(t)
	client := func(url string) llm.Client {
		c, err := anthropic.New(anthropic.Config{Model: "fake", Key: "x", BaseURL: url, HTTPClient: llmtest.HTTPClient(t)})
		require.NoError(t, err)
		return c
	}
	replay(t, cassettes(t), client, saidInMessages,
		map[string]llm.Stop{"end_turn": llm.StopEnd, "tool_use": llm.StopTools, "max_tokens": llm.StopLength})
}

func saidInMessages(t *testing.T, e *exchange) (s said) {
	type usage struct {
		Input, Output int
		Created       int `json:"cache_creation_input_tokens"`
		Read          int `json:"cache_read_input_tokens"`
		In            int `json:"input_tokens"`
		Out           int `json:"output_tokens"`
	}
	type block struct {
		Type, Text, ID, Name string
		Input                json.RawMessage
	}
	take := func(b block) {
		s.text += b.Text
		if b.Type == "tool_use" {
			s.calls = append(s.calls, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		}
	}
	count := func(u usage) {
		s.input, s.output = max(s.input, u.In+u.Created+u.Read), max(s.output, u.Out)
	}
	for _, event := range e.events(t) {
		var answer struct {
			Type         string
			Content      []block
			StopReason   string `json:"stop_reason"`
			Usage        usage
			Message      struct{ Usage usage }
			ContentBlock block `json:"content_block"`
			Delta        struct {
				Text        string
				PartialJSON string `json:"partial_json"`
				StopReason  string `json:"stop_reason"`
			}
		}
		require.NoError(t, json.Unmarshal(event, &answer))
		count(answer.Usage)
		count(answer.Message.Usage)
		for _, b := range append(answer.Content, answer.ContentBlock) {
			if answer.Type == "content_block_start" {
				b.Input = nil // which comes in pieces
			}
			take(b)
		}
		s.text += answer.Delta.Text
		if answer.Delta.PartialJSON != "" {
			s.calls[len(s.calls)-1].Arguments += answer.Delta.PartialJSON
		}
		s.end += answer.StopReason + answer.Delta.StopReason
	}
	s.refusal = s.end == "refusal"
	return s
}

func TestRecordedGenerateContent(t *testing.T) {
	requireCorpus(t)
	exchanges := traces(t, "langchaingo/googleai/*.httprr", "GenerateContent")
	maps.Copy(exchanges, traces(t, "langchaingo/googleai/*.httprr", ":generateContent"))
	for _, e := range exchanges {
		e.body = named(t, e.body)
	}
	client := func(url string) llm.Client {
		c, err := gemini.New(gemini.Config{Model: "fake", Key: "x", BaseURL: url, HTTPClient: llmtest.HTTPClient(t)})
		require.NoError(t, err)
		return c
	}
	replay(t, exchanges, client, saidByGemini, map[string]llm.Stop{"STOP": llm.StopEnd, "MAX_TOKENS": llm.StopLength,
		"tools": llm.StopTools})
}

// named writes an answer as it comes to who does not ask for numbers in place of names, and pieces as events.
func named(t *testing.T, body []byte) []byte {
	names := map[string][]string{"finishReason": {"FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY",
		"RECITATION", "OTHER"}}
	var rename func(v any)
	rename = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, each := range v {
				rename(each)
			}
		case map[string]any:
			delete(v, "safetyRatings")
			for key, value := range v {
				number, isNumber := value.(float64)
				switch {
				case key == "modality":
					v[key] = "TEXT"
				case isNumber && names[key] != nil:
					v[key] = names[key][int(number)]
				default:
					rename(value)
				}
			}
		}
	}
	var answer any
	if json.Unmarshal(body, &answer) != nil {
		return body
	}
	rename(answer)
	pieces, isStream := answer.([]any)
	if !isStream {
		pieces = []any{answer}
	}
	var out bytes.Buffer
	for _, piece := range pieces {
		encoded, err := json.Marshal(piece)
		require.NoError(t, err)
		if isStream {
			fmt.Fprintf(&out, "data: %s\n\n", encoded)
		} else {
			out.Write(encoded)
		}
	}
	return out.Bytes()
}

func saidByGemini(t *testing.T, e *exchange) (s said) {
	for _, event := range e.events(t) {
		var answer struct {
			Candidates []struct {
				Content struct {
					Parts []struct {
						Text         string
						FunctionCall *struct {
							Name string
							Args json.RawMessage
						}
					}
				}
				FinishReason string
			}
			UsageMetadata struct{ PromptTokenCount, CandidatesTokenCount int }
		}
		require.NoError(t, json.Unmarshal(event, &answer))
		if u := answer.UsageMetadata; u.PromptTokenCount > 0 { // the first ones are estimates
			s.input, s.output = u.PromptTokenCount, u.CandidatesTokenCount
		}
		for _, c := range answer.Candidates {
			for _, part := range c.Content.Parts {
				s.text += part.Text
				if call := part.FunctionCall; call != nil {
					s.calls = append(s.calls, llm.ToolCall{Name: call.Name, Arguments: string(call.Args)})
				}
			}
			if c.FinishReason != "" {
				s.end = c.FinishReason
			}
		}
	}
	if len(s.calls) > 0 {
		s.end = "tools"
	}
	return s
}
