package scripted

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
)

// MeaningNote says on a screen whose words those about the meaning of mail are.
const MeaningNote = "The demo has no model: what mail means is told by its form, and where that tells nothing, by a script " +
	"that ships with the sample"

// NoteRules is the rules file that has a demo keep notes by what mail means.
//
//go:embed noterules.yaml
var NoteRules []byte

// meaningFile has the answers, by the senders and the subjects of the messages of the sample.
//
//go:embed meaning.json
var meaningFile []byte

var meanings = func() map[string]map[string]json.RawMessage {
	var all map[string]map[string]json.RawMessage
	if err := json.Unmarshal(meaningFile, &all); err != nil {
		panic(fmt.Sprintf("scripted: meaning.json: %v", err)) // it is part of the program
	}
	return all
}()

// means answers what is asked about the meaning of a message, and nothing else. Mail that is not of the sample is
// refused: nobody knows it.
func means(r *llm.Request) (*llm.Response, error) {
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(r.Tools[0].Schema, &schema); err != nil {
		return nil, fmt.Errorf("scripted: read what is asked: %w", err)
	}
	known, ok := meanings[messageIn(r)]
	if !ok {
		return nil, &llm.Error{Provider: "demo", Model: name, Reason: llm.ErrRefused,
			Hint: "The demo has no model, and its script knows the mail of the sample alone; configure one in the section [llm]."}
	}
	answer := maps.Clone(known)
	maps.DeleteFunc(answer, func(stage string, _ json.RawMessage) bool {
		_, asked := schema.Properties[stage]
		return !asked
	})
	return call(decide.RecordFacts, answer)
}

// messageIn returns the sender and the subject of the message in a request.
func messageIn(r *llm.Request) string {
	from, subject := "", ""
	for _, m := range r.Messages {
		for line := range strings.Lines(m.Text) {
			if text, ok := strings.CutPrefix(line, "From: "); ok && from == "" {
				from = strings.TrimSpace(text)
			}
			if text, ok := strings.CutPrefix(line, "Subject: "); ok && subject == "" {
				subject = strings.TrimSpace(text)
			}
		}
	}
	return from + ": " + subject
}
