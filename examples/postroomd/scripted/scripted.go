// Package scripted is the model of a demo, which has neither a key nor a network. It answers one message of the sample
// mailbox with a text that is written down here, works on another one as the demo's agent, says what the others mean if
// it is asked, and leaves all else to the person.
package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/compose"
	"github.com/postroom-go/postroom/llm/decide"
)

// Note says on a screen where the texts come from.
const Note = "The demo has no model: the texts of its drafts are scripted"

// Answered is the Message-ID of the message of the sample that has an answer.
const Answered = "picnic-4@family.example"

// asks is a sentence of that message: the prompt has the message, and not its id.
const asks = "Can you be at his door at eleven?"

// The texts have a time that nobody has said, to show what becomes of one.
const (
	first = "Hi Mara,\n\nI will be at his door at eleven. Aunt Ilse may ride with us, I shall pick her up at 10:15."
	again = "Hi Mara,\n\neleven at his door is fine, and Aunt Ilse may ride with us."
)

// A Model is the model. It is safe for concurrent use.
type Model struct{}

var _ llm.Client = Model{}

// name is what the model calls itself.
const name = "demo::scripted"

// Complete calls the tool of package compose, those of package agent, or that of package decide which says what a
// message means. A request for another tool is an error.
func (Model) Complete(_ context.Context, r *llm.Request) (*llm.Response, error) {
	if slices.Contains([]string{reads, acts, reports}, r.Purpose) {
		return work(r)
	}
	if r.ForceTool == decide.RecordFacts {
		return means(r)
	}
	if r.ForceTool != compose.WriteAnswer {
		return nil, fmt.Errorf("scripted: the demo has no model for the tool %q; configure one in the section [llm]", r.ForceTool)
	}
	prompt := r.Messages[len(r.Messages)-1].Text
	answer := struct {
		Text         string `json:"text"`
		PersonWrites bool   `json:"person_writes"`
	}{Text: first}
	switch {
	case !strings.Contains(prompt, asks):
		answer.Text, answer.PersonWrites = "", true
	case strings.Contains(prompt, "TASK\nWrite TEXT again"):
		answer.Text = again
	}
	return call(compose.WriteAnswer, answer)
}

// call answers with a call of a tool.
func call(tool string, arguments any) (*llm.Response, error) {
	text, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	return &llm.Response{Model: name, ToolCalls: []llm.ToolCall{{ID: "call_1", Name: tool, Arguments: string(text)}}}, nil
}
