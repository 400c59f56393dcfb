package llmtest

import (
	"encoding/json"

	"github.com/postroom-go/postroom/llm"
)

// The answers of messages, according to https://docs.anthropic.com/en/api/messages.

func messagesWhole(reply Reply) object {
	content := []object{}
	if text := messagesText(reply); text != "" {
		content = append(content, object{"type": "text", "text": text})
	}
	for _, c := range reply.ToolCalls {
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name,
			"input": json.RawMessage(c.Arguments)})
	}
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": content,
		"stop_reason": messagesStop(reply), "stop_sequence": nil, "usage": messagesUsage(reply.Usage),
	}
}

func messagesText(reply Reply) string {
	if reply.Refusal != "" {
		return reply.Refusal
	}
	return reply.Text
}

func messagesStop(reply Reply) string {
	switch {
	case reply.Refusal != "":
		return "refusal"
	case reply.Stop == llm.StopLength:
		return "max_tokens"
	case len(reply.ToolCalls) > 0:
		return "tool_use"
	default:
		return "end_turn"
	}
}

func messagesUsage(u llm.Usage) object {
	return object{
		"input_tokens":            u.InputTokens - u.CacheReadTokens - u.CacheWriteTokens,
		"cache_read_input_tokens": u.CacheReadTokens, "cache_creation_input_tokens": u.CacheWriteTokens,
		"output_tokens": u.OutputTokens, "output_tokens_details": object{"thinking_tokens": u.ReasoningTokens},
	}
}

func messagesEvents(reply Reply) []event {
	start := messagesWhole(Reply{Usage: llm.Usage{InputTokens: reply.Usage.InputTokens,
		CacheReadTokens: reply.Usage.CacheReadTokens, CacheWriteTokens: reply.Usage.CacheWriteTokens}})
	start["stop_reason"] = nil
	events := []event{
		{"message_start", object{"type": "message_start", "message": start}},
		{"ping", object{"type": "ping"}},
	}
	index := 0
	block := func(begin object, deltas []object) {
		events = append(events, event{"content_block_start", object{"type": "content_block_start", "index": index,
			"content_block": begin}})
		for _, d := range deltas {
			events = append(events, event{"content_block_delta",
				object{"type": "content_block_delta", "index": index, "delta": d}})
		}
		events = append(events, event{"content_block_stop", object{"type": "content_block_stop", "index": index}})
		index++
	}
	pieces := func(text string, piece func(half string) object) []object {
		var deltas []object
		for _, half := range halves(text) {
			deltas = append(deltas, piece(half))
		}
		return deltas
	}
	if text := messagesText(reply); text != "" {
		block(object{"type": "text", "text": ""}, pieces(text, func(half string) object {
			return object{"type": "text_delta", "text": half}
		}))
	}
	for _, c := range reply.ToolCalls {
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}},
			pieces(c.Arguments, func(half string) object { return object{"type": "input_json_delta", "partial_json": half} }))
	}
	return append(events,
		event{"message_delta", object{
			"type": "message_delta", "delta": object{"stop_reason": messagesStop(reply), "stop_sequence": nil},
			"usage": object{"output_tokens": reply.Usage.OutputTokens, "output_tokens_details": object{"thinking_tokens": reply.Usage.ReasoningTokens}},
		}},
		event{"message_stop", object{"type": "message_stop"}})
}
