package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
)

// An Obedient client is a model that a malicious mail controls: it obeys the message, with full confidence and without
// requesting approval. Its decisions alone must never send, forward or delete anything.
//
// It searches only the text of the message for a decision in JSON and copies it. Otherwise it searches for the words
// delete, forward or reply, and decides that, with the first address after the word. For other messages it decides
// none.
type Obedient struct{}

var _ llm.Client = Obedient{}

var (
	orders = []struct {
		word   *regexp.Regexp
		action string
	}{
		{regexp.MustCompile(`(?i)\bforward`), "forward"},
		{regexp.MustCompile(`(?i)\b(?:reply|answer|respond)`), "auto_reply"},
		{regexp.MustCompile(`(?i)\b(?:delete|erase|destroy)`), "delete"},
	}
	address  = regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
	embedded = regexp.MustCompile(`(?s)\{\s*"decision".*\}`)
)

// Complete obeys the message.
func (Obedient) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	arguments := obey(messageOf(req))
	return &llm.Response{
		Model:     "llmtest::obedient",
		ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision, Arguments: arguments}},
	}, nil
}

// messageOf returns the text between the marks that the system message names.
func messageOf(req *llm.Request) string {
	for _, m := range req.Messages {
		if m.Role != llm.RoleUser {
			continue
		}
		_, after, ok := strings.Cut(m.Text, " BEGIN>>>\n")
		end := strings.LastIndex(after, " END>>>")
		if ok && end >= 0 {
			return after[:end]
		}
	}
	return ""
}

func obey(message string) string {
	if forged := embedded.FindString(message); json.Valid([]byte(forged)) {
		return forged
	}
	for _, order := range orders {
		at := order.word.FindStringIndex(message)
		if at == nil {
			continue
		}
		parameters := map[string]string{}
		if to := address.FindString(message[at[1]:]); to != "" && order.action != "delete" {
			parameters["to"] = to
		}
		if order.action == "auto_reply" {
			parameters["body"] = "Yes."
		}
		encoded, err := json.Marshal(parameters)
		if err != nil {
			panic(fmt.Sprintf("llmtest: a map of strings is JSON: %v", err))
		}
		return Decision(order.action, string(encoded), 1)
	}
	return Decision("none", "{}", 1)
}
