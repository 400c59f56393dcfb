package gemini

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"google.golang.org/genai"

	"github.com/postroom-go/postroom/llm"
)

// params converts the request to Gemini's form.
func (c *Client) params(req *llm.Request) ([]*genai.Content, *genai.GenerateContentConfig) {
	config := &genai.GenerateContentConfig{MaxOutputTokens: int32(
		min(cmp.Or(req.MaxOutputTokens, c.caller.MaxOutput), 1<<30))}
	var contents []*genai.Content
	names := map[string]string{} // of tools, by the ids of their calls
	for _, m := range req.Messages {
		if m.Role == llm.RoleSystem {
			config.SystemInstruction = &genai.Content{Parts: []*genai.Part{{Text: m.Text}}}
			continue
		}
		for _, call := range m.ToolCalls {
			names[call.ID] = call.Name
		}
		contents = add(contents, m, names)
	}
	if len(req.Tools) > 0 {
		tool := &genai.Tool{}
		for _, t := range req.Tools {
			tool.FunctionDeclarations = append(tool.FunctionDeclarations, &genai.FunctionDeclaration{
				Name: t.Name, Description: t.Description, ParametersJsonSchema: t.Schema,
			})
		}
		config.Tools = []*genai.Tool{tool}
	}
	if req.ForceTool != "" {
		config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{
			Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: []string{req.ForceTool},
		}}
	}
	if req.Output != nil {
		config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", req.Output.Schema
	}
	if req.Temperature != nil {
		config.Temperature = new(float32(*req.Temperature))
	}
	return contents, config
}

// add appends a message. The results of several tool calls must be in one content.
func add(list []*genai.Content, m llm.Message, names map[string]string) []*genai.Content {
	role := genai.RoleUser
	var parts []*genai.Part
	if m.Text != "" && m.Role != llm.RoleTool {
		parts = append(parts, &genai.Part{Text: m.Text})
	}
	switch m.Role {
	case llm.RoleTool:
		parts = append(parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
			ID: sentID(m.ToolCallID), Name: names[m.ToolCallID], Response: map[string]any{"output": m.Text},
		}})
	case llm.RoleAssistant:
		role = genai.RoleModel
		for _, call := range m.ToolCalls {
			parts = append(parts, callPart(call))
		}
	}
	if len(parts) == 0 {
		parts = []*genai.Part{{Text: "(no text)"}}
	}
	if last := len(list) - 1; last >= 0 && list[last].Role == role {
		list[last].Parts = append(list[last].Parts, parts...)
		return list
	}
	return append(list, &genai.Content{Role: role, Parts: parts})
}

func callPart(call llm.ToolCall) *genai.Part {
	part := &genai.Part{FunctionCall: &genai.FunctionCall{ID: sentID(call.ID), Name: call.Name}}
	if json.Unmarshal([]byte(call.Arguments), &part.FunctionCall.Args) != nil || part.FunctionCall.Args == nil {
		part.FunctionCall.Args = map[string]any{"not_json": call.Arguments}
	}
	// A State in another form was written by another provider.
	if signature, err := base64.StdEncoding.DecodeString(call.State); err == nil {
		part.ThoughtSignature = signature
	}
	return part
}

// ownID begins the ids of calls that Gemini has not named. They must not be sent to Gemini.
const ownID = "postroom_call_"

func sentID(id string) string {
	if strings.HasPrefix(id, ownID) {
		return ""
	}
	return id
}
