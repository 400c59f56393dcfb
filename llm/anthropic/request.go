package anthropic

import (
	"cmp"
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/postroom-go/postroom/llm"
)

// params converts the request to Anthropic's form.
func (c *Client) params(req *llm.Request) anthropic.MessageNewParams {
	params := anthropic.MessageNewParams{Model: c.caller.Model,
		MaxTokens: int64(cmp.Or(req.MaxOutputTokens, c.caller.MaxOutput))}
	for _, m := range req.Messages {
		if m.Role == llm.RoleSystem {
			params.System = append(params.System, anthropic.TextBlockParam{Text: m.Text})
			continue
		}
		params.Messages = add(params.Messages, m)
	}
	for _, t := range req.Tools {
		tool := anthropic.ToolParam{Name: t.Name, InputSchema: inputSchema(t.Schema)}
		if t.Description != "" {
			tool.Description = anthropic.String(t.Description)
		}
		params.Tools = append(params.Tools, anthropic.ToolUnionParam{OfTool: &tool})
	}
	if req.ForceTool != "" {
		params.ToolChoice = anthropic.ToolChoiceParamOfTool(req.ForceTool)
		params.ToolChoice.OfTool.DisableParallelToolUse = anthropic.Bool(true)
	}
	if req.Output != nil {
		params.OutputConfig.Format.Schema = object(req.Output.Schema)
	}
	if req.Temperature != nil {
		params.Temperature = anthropic.Float(*req.Temperature)
	}
	return params
}

// object decodes a schema that Validate has found to be JSON. A schema that is not an object becomes an empty one.
func object(raw json.RawMessage) map[string]any {
	s := map[string]any{}
	if json.Unmarshal(raw, &s) != nil {
		return map[string]any{}
	}
	return s
}

func inputSchema(raw json.RawMessage) anthropic.ToolInputSchemaParam {
	s := object(raw)
	delete(s, "type")
	return anthropic.ToolInputSchemaParam{ExtraFields: s}
}

// add appends a message. The results of several tool calls must be in one message, and turns must alternate.
func add(list []anthropic.MessageParam, m llm.Message) []anthropic.MessageParam {
	role := anthropic.MessageParamRoleUser
	var blocks []anthropic.ContentBlockParamUnion
	switch m.Role {
	case llm.RoleTool:
		blocks = append(blocks, anthropic.NewToolResultBlock(m.ToolCallID, m.Text, false))
	case llm.RoleAssistant:
		role = anthropic.MessageParamRoleAssistant
		// QUIRK: blocks of empty text are refused.
		if m.Text != "" {
			blocks = append(blocks, anthropic.NewTextBlock(m.Text))
		}
		for _, call := range m.ToolCalls {
			blocks = append(blocks, anthropic.NewToolUseBlock(call.ID, arguments(call.Arguments), call.Name))
		}
	default:
		blocks = append(blocks, anthropic.NewTextBlock(m.Text))
	}
	if len(blocks) == 0 {
		blocks = append(blocks, anthropic.NewTextBlock("(no text)"))
	}
	if last := len(list) - 1; last >= 0 && list[last].Role == role {
		list[last].Content = append(list[last].Content, blocks...)
		return list
	}
	return append(list, anthropic.MessageParam{Role: role, Content: blocks})
}

// arguments returns the arguments as the model wrote them. Arguments that are not an object cannot be sent as one.
func arguments(text string) any {
	var parsed map[string]any
	if json.Unmarshal([]byte(text), &parsed) == nil && parsed != nil {
		return json.RawMessage(text)
	}
	return map[string]any{"not_json": text}
}
