package openai

import (
	"cmp"
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/postroom-go/postroom/llm"
)

// params converts the request to OpenAI's form.
func (c *Client) params(req *llm.Request) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{Model: c.caller.Model,
		Messages: make([]openai.ChatCompletionMessageParamUnion, len(req.Messages))}
	for i, m := range req.Messages {
		params.Messages[i] = message(m)
	}
	for _, t := range req.Tools {
		function := shared.FunctionDefinitionParam{Name: t.Name, Parameters: schema(t.Schema)}
		if t.Description != "" {
			function.Description = openai.String(t.Description)
		}
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(function))
	}
	if req.ForceTool != "" {
		params.ToolChoice = openai.ToolChoiceOptionFunctionToolChoice(
			openai.ChatCompletionNamedToolChoiceFunctionParam{Name: req.ForceTool})
	}
	if req.Output != nil {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: req.Output.Name, Schema: req.Output.Schema},
		}
	}
	if req.Temperature != nil {
		params.Temperature = openai.Float(*req.Temperature)
	}
	bound := openai.Int(int64(cmp.Or(req.MaxOutputTokens, c.caller.MaxOutput)))
	// QUIRK: OpenAI's reasoning models refuse max_tokens, and most compatible servers know no other name.
	if c.official {
		params.MaxCompletionTokens = bound
	} else {
		params.MaxTokens = bound
	}
	return params
}

// schema converts a schema that Validate has found to be JSON for the SDK. A schema that is not an object becomes none.
func schema(raw json.RawMessage) map[string]any {
	var s map[string]any
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return s
}

func message(m llm.Message) openai.ChatCompletionMessageParamUnion {
	switch m.Role {
	case llm.RoleSystem:
		return openai.SystemMessage(m.Text)
	case llm.RoleTool:
		return openai.ToolMessage(m.Text, m.ToolCallID)
	case llm.RoleAssistant:
		turn := openai.ChatCompletionAssistantMessageParam{}
		if m.Text != "" || len(m.ToolCalls) == 0 {
			turn.Content.OfString = openai.String(m.Text)
		}
		for _, call := range m.ToolCalls {
			turn.ToolCalls = append(turn.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID:       call.ID,
					Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: call.Arguments},
				},
			})
		}
		return openai.ChatCompletionMessageParamUnion{OfAssistant: &turn}
	default:
		return openai.UserMessage(m.Text)
	}
}
