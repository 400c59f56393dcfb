package gemini

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/provider"
)

// A partialCall is a call whose arguments arrive in pieces, each with its place as a JSON Path (RFC 9535).
type partialCall struct {
	open bool // another piece of the call follows
	args map[string]any
}

// maxPartialIndex bounds the lists that pieces fill: the server chooses the places.
const maxPartialIndex = 1000

// add adds the pieces of a part of the call. A piece of text at the place of a text continues it.
func (c *partialCall) add(call *genai.FunctionCall) error {
	if c.args == nil {
		c.args = map[string]any{}
	}
	maps.Copy(c.args, call.Args)
	for _, piece := range call.PartialArgs {
		if piece == nil {
			continue
		}
		steps, err := pathOf(piece.JsonPath)
		if err == nil {
			_, err = put(c.args, steps, valueOf(piece))
		}
		if err != nil {
			return &provider.Fault{Reason: llm.ErrUnavailable, Text: err.Error()}
		}
	}
	c.open = call.WillContinue != nil && *call.WillContinue
	return nil
}

func valueOf(piece *genai.PartialArg) any {
	switch {
	case piece.BoolValue != nil:
		return *piece.BoolValue
	case piece.NumberValue != nil:
		return *piece.NumberValue
	case piece.NULLValue != "":
		return nil
	default:
		return piece.StringValue
	}
}

// pathOf splits a path such as $.a.b[0]['c d'] into keys and indexes.
func pathOf(path string) (steps []any, err error) {
	rest, ok := strings.CutPrefix(path, "$")
	for ok && rest != "" {
		var step any
		switch {
		case strings.HasPrefix(rest, "['") || strings.HasPrefix(rest, `["`):
			end := strings.Index(rest, rest[1:2]+"]")
			if ok = end >= 2; ok {
				step, rest = rest[2:end], rest[end+2:]
			}
		case strings.HasPrefix(rest, "["):
			number, after, closed := strings.Cut(rest[1:], "]")
			index, err := strconv.Atoi(number)
			ok = closed && err == nil && index >= 0 && index < maxPartialIndex
			step, rest = index, after
		case strings.HasPrefix(rest, "."):
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			ok = end > 1
			step, rest = rest[1:end], rest[end:]
		default:
			ok = false
		}
		steps = append(steps, step)
	}
	if !ok || len(steps) == 0 {
		return nil, fmt.Errorf("the answer has a piece of a call at %q, which is no place", path)
	}
	return steps, nil
}

// put puts a value at the place below at, and returns what is there then.
func put(at any, steps []any, value any) (any, error) {
	if len(steps) == 0 {
		if before, ok := at.(string); ok {
			if more, ok := value.(string); ok {
				return before + more, nil
			}
		}
		return value, nil
	}
	var err error
	switch step := steps[0].(type) {
	case string:
		object, ok := at.(map[string]any)
		if at != nil && !ok {
			return nil, fmt.Errorf("the answer has a piece of a call at %q, where no object is", step)
		}
		if object == nil {
			object = map[string]any{}
		}
		object[step], err = put(object[step], steps[1:], value)
		return object, err
	case int:
		list, ok := at.([]any)
		if at != nil && !ok {
			return nil, fmt.Errorf("the answer has a piece of a call at %d, where no list is", step)
		}
		for len(list) <= step {
			list = append(list, nil)
		}
		list[step], err = put(list[step], steps[1:], value)
		return list, err
	}
	return nil, fmt.Errorf("the answer has a piece of a call at %v, which is no place", steps[0])
}

// addPartial adds a part of a call that arrives in pieces; it returns false for a call that is complete.
func (t *turn) addPartial(call *genai.FunctionCall, signature []byte) (bool, error) {
	continues := t.partial.open && (call.Name == "" || call.Name == t.resp.ToolCalls[len(t.resp.ToolCalls)-1].Name)
	if !continues && len(call.PartialArgs) == 0 && (call.WillContinue == nil || !*call.WillContinue) {
		return false, nil
	}
	if !continues {
		t.partial = partialCall{}
		t.addCall(call, signature)
	}
	if err := t.partial.add(call); err != nil {
		return true, err
	}
	arguments, err := json.Marshal(t.partial.args)
	if err != nil {
		return true, &provider.Fault{Reason: llm.ErrUnavailable, Text: err.Error()}
	}
	t.resp.ToolCalls[len(t.resp.ToolCalls)-1].Arguments = string(arguments)
	return true, nil
}
