package llmtest

import "github.com/postroom-go/postroom/llm"

// The answers of chat completions, according to https://platform.openai.com/docs/api-reference/chat.

func chatWhole(reply Reply) object {
	message := object{"role": "assistant", "content": reply.Text, "refusal": nil}
	if reply.Refusal != "" {
		message["content"], message["refusal"] = nil, reply.Refusal
	}
	var calls []object
	for _, c := range reply.ToolCalls {
		calls = append(calls, object{"id": c.ID, "type": "function",
			"function": object{"name": c.Name, "arguments": c.Arguments}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": "fake",
		"choices": []object{{"index": 0, "message": message, "finish_reason": chatStop(reply), "logprobs": nil}},
		"usage":   chatUsage(reply.Usage),
	}
}

func chatStop(reply Reply) string {
	switch {
	case reply.Stop == llm.StopLength:
		return "length"
	case len(reply.ToolCalls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func chatUsage(u llm.Usage) object {
	return object{
		"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens, "total_tokens": u.Total(),
		"prompt_tokens_details":     object{"cached_tokens": u.CacheReadTokens},
		"completion_tokens_details": object{"reasoning_tokens": u.ReasoningTokens},
	}
}

func chatEvents(reply Reply) []event {
	var events []event
	add := func(delta object, finish any) {
		events = append(events, event{data: object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": "fake",
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
		}})
	}
	add(object{"role": "assistant", "content": ""}, nil)
	if reply.Refusal != "" {
		add(object{"refusal": reply.Refusal}, nil)
	}
	if reply.Text != "" {
		for _, half := range halves(reply.Text) {
			add(object{"content": half}, nil)
		}
	}
	for i, c := range reply.ToolCalls {
		add(object{"tool_calls": []object{{"index": i, "id": c.ID, "type": "function",
			"function": object{"name": c.Name, "arguments": ""}}}}, nil)
		for _, half := range halves(c.Arguments) {
			add(object{"tool_calls": []object{{"index": i, "function": object{"arguments": half}}}}, nil)
		}
	}
	add(object{}, chatStop(reply))
	events = append(events, event{data: object{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": "fake",
		"choices": []object{}, "usage": chatUsage(reply.Usage),
	}})
	return append(events, event{data: "[DONE]"})
}
