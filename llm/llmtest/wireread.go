package llmtest

import (
	"encoding/json"
	"fmt"

	"github.com/postroom-go/postroom/llm"
)

// Asked is a parsed request of any protocol.
type Asked struct {
	Messages  []llm.Message
	Tools     []string // the names
	ForceTool string
	MaxOutput int
	HasSchema bool // of the text
}

// Asked parses a request. Gemini's protocol has no ids for calls that Gemini has not named.
func (s *Server) Asked(seen Seen) (Asked, error) {
	b, err := json.Marshal(seen.Body)
	if err != nil {
		return Asked{}, err
	}
	switch s.wire {
	case Messages:
		return readMessages(b)
	case GenerateContent:
		return readGemini(b)
	default:
		return readChat(b)
	}
}

func readChat(b []byte) (Asked, error) {
	var body struct {
		Messages []struct {
			Role       llm.Role `json:"role"`
			Content    string   `json:"content"`
			ToolCallID string   `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		ToolChoice struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tool_choice"`
		MaxTokens           int `json:"max_tokens"`
		MaxCompletionTokens int `json:"max_completion_tokens"`
		ResponseFormat      struct {
			JSONSchema struct {
				Schema map[string]any `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(b, &body); err != nil {
		return Asked{}, err
	}
	asked := Asked{
		ForceTool: body.ToolChoice.Function.Name, MaxOutput: body.MaxTokens + body.MaxCompletionTokens,
		HasSchema: body.ResponseFormat.JSONSchema.Schema["type"] == "object",
	}
	for _, m := range body.Messages {
		read := llm.Message{Role: m.Role, Text: m.Content, ToolCallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			read.ToolCalls = append(read.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Function.Name,
				Arguments: c.Function.Arguments})
		}
		asked.Messages = append(asked.Messages, read)
	}
	for _, t := range body.Tools {
		if err := isObject(t.Function.Parameters); err != nil {
			return Asked{}, err
		}
		asked.Tools = append(asked.Tools, t.Function.Name)
	}
	return asked, nil
}

func readMessages(b []byte) (Asked, error) {
	type block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	var body struct {
		System   []block `json:"system"`
		Messages []struct {
			Role    llm.Role `json:"role"`
			Content []block  `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		ToolChoice struct {
			Name string `json:"name"`
		} `json:"tool_choice"`
		MaxTokens    int `json:"max_tokens"`
		OutputConfig struct {
			Format struct {
				Schema map[string]any `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
	}
	if err := json.Unmarshal(b, &body); err != nil {
		return Asked{}, err
	}
	asked := Asked{ForceTool: body.ToolChoice.Name, MaxOutput: body.MaxTokens,
		HasSchema: body.OutputConfig.Format.Schema["type"] == "object"}
	for _, s := range body.System {
		asked.Messages = append(asked.Messages, llm.Message{Role: llm.RoleSystem, Text: s.Text})
	}
	for i, m := range body.Messages {
		if i > 0 && body.Messages[i-1].Role == m.Role {
			return Asked{}, fmt.Errorf("messages %d and %d have the same role %s", i-1, i, m.Role)
		}
		turn := llm.Message{Role: m.Role}
		for _, c := range m.Content {
			switch c.Type {
			case "tool_result":
				asked.Messages = append(asked.Messages, llm.Message{Role: llm.RoleTool, Text: c.Content[0].Text,
					ToolCallID: c.ToolUseID})
			case "tool_use":
				turn.ToolCalls = append(turn.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: string(c.Input)})
			default:
				turn.Text += c.Text
			}
		}
		if turn.Text != "" || turn.ToolCalls != nil {
			asked.Messages = append(asked.Messages, turn)
		}
	}
	for _, t := range body.Tools {
		if err := isObject(t.InputSchema); err != nil {
			return Asked{}, err
		}
		asked.Tools = append(asked.Tools, t.Name)
	}
	return asked, nil
}

func readGemini(b []byte) (Asked, error) {
	type part struct {
		Text             string `json:"text"`
		ThoughtSignature string `json:"thoughtSignature"`
		FunctionCall     *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		FunctionResponse *struct {
			ID       string            `json:"id"`
			Name     string            `json:"name"`
			Response map[string]string `json:"response"`
		} `json:"functionResponse"`
	}
	type content struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}
	var body struct {
		SystemInstruction content   `json:"systemInstruction"`
		Contents          []content `json:"contents"`
		Tools             []struct {
			FunctionDeclarations []struct {
				Name                 string          `json:"name"`
				ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		ToolConfig struct {
			FunctionCallingConfig struct {
				AllowedFunctionNames []string `json:"allowedFunctionNames"`
			} `json:"functionCallingConfig"`
		} `json:"toolConfig"`
		GenerationConfig struct {
			MaxOutputTokens    int            `json:"maxOutputTokens"`
			ResponseJSONSchema map[string]any `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(b, &body); err != nil {
		return Asked{}, err
	}
	asked := Asked{MaxOutput: body.GenerationConfig.MaxOutputTokens,
		HasSchema: body.GenerationConfig.ResponseJSONSchema["type"] == "object"}
	if names := body.ToolConfig.FunctionCallingConfig.AllowedFunctionNames; len(names) > 0 {
		asked.ForceTool = names[0]
	}
	for _, p := range body.SystemInstruction.Parts {
		asked.Messages = append(asked.Messages, llm.Message{Role: llm.RoleSystem, Text: p.Text})
	}
	for _, c := range body.Contents {
		turn := llm.Message{Role: llm.Role(c.Role)}
		if c.Role == "model" {
			turn.Role = llm.RoleAssistant
		}
		for _, p := range c.Parts {
			switch {
			case p.FunctionResponse != nil:
				asked.Messages = append(asked.Messages, llm.Message{
					Role: llm.RoleTool, Text: p.FunctionResponse.Response["output"], ToolCallID: p.FunctionResponse.ID,
				})
			case p.FunctionCall != nil:
				call := llm.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: "{}", State: p.ThoughtSignature}
				if p.FunctionCall.Args != nil {
					call.Arguments = string(p.FunctionCall.Args)
				}
				turn.ToolCalls = append(turn.ToolCalls, call)
			default:
				turn.Text += p.Text
			}
		}
		if turn.Text != "" || turn.ToolCalls != nil {
			asked.Messages = append(asked.Messages, turn)
		}
	}
	for _, t := range body.Tools {
		for _, f := range t.FunctionDeclarations {
			if err := isObject(f.ParametersJSONSchema); err != nil {
				return Asked{}, err
			}
			asked.Tools = append(asked.Tools, f.Name)
		}
	}
	return asked, nil
}

// isObject requires a schema of type object with properties.
func isObject(schema json.RawMessage) error {
	var s struct {
		Type       string         `json:"type"`
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("the schema of a tool: %w", err)
	}
	if s.Type != "object" || len(s.Properties) == 0 {
		return fmt.Errorf("the schema of a tool is %s and not that of an object with properties", schema)
	}
	return nil
}
