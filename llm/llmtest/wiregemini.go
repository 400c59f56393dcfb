package llmtest

import (
	"encoding/json"

	"github.com/postroom-go/postroom/llm"
)

// The answers of generateContent, according to https://ai.google.dev/api/generate-content.

func geminiWhole(reply Reply) object {
	var parts []object
	if reply.Text != "" {
		parts = append(parts, object{"text": reply.Text})
	}
	return geminiPiece(reply, append(parts, geminiCalls(reply)...), true)
}

func geminiCalls(reply Reply) []object {
	var parts []object
	for _, c := range reply.ToolCalls {
		call := object{"name": c.Name, "args": json.RawMessage(c.Arguments)}
		if c.ID != "" {
			call["id"] = c.ID
		}
		part := object{"functionCall": call}
		if c.State != "" {
			part["thoughtSignature"] = c.State
		}
		parts = append(parts, part)
	}
	return parts
}

// geminiPiece is a whole answer, or one event of a stream. The last event has the reason for the end.
func geminiPiece(reply Reply, parts []object, last bool) object {
	piece := object{"responseId": "resp_1", "modelVersion": "fake"}
	if reply.Refusal != "" {
		piece["promptFeedback"] = object{"blockReason": "SAFETY", "blockReasonMessage": reply.Refusal}
		piece["usageMetadata"] = geminiUsage(reply.Usage)
		return piece
	}
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if last {
		candidate["finishReason"] = geminiStop(reply)
		piece["usageMetadata"] = geminiUsage(reply.Usage)
	}
	piece["candidates"] = []object{candidate}
	return piece
}

func geminiStop(reply Reply) string {
	if reply.Stop == llm.StopLength {
		return "MAX_TOKENS"
	}
	return "STOP"
}

func geminiUsage(u llm.Usage) object {
	return object{
		"promptTokenCount": u.InputTokens, "candidatesTokenCount": u.OutputTokens - u.ReasoningTokens, "totalTokenCount": u.Total(),
		"thoughtsTokenCount": u.ReasoningTokens, "cachedContentTokenCount": u.CacheReadTokens,
	}
}

func geminiEvents(reply Reply) []event {
	if reply.Refusal != "" {
		return []event{{data: geminiPiece(reply, nil, true)}}
	}
	var events []event
	if reply.Text != "" {
		for _, half := range halves(reply.Text) {
			events = append(events, event{data: geminiPiece(reply, []object{{"text": half}}, false)})
		}
	}
	for _, part := range geminiCalls(reply) {
		events = append(events, event{data: geminiPiece(reply, []object{part}, false)})
	}
	return append(events, event{data: geminiPiece(reply, []object{{"text": ""}}, true)})
}
