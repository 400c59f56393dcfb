package scripted

import (
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
)

// AgentNote says on a screen whose words those of the agent are.
const AgentNote = "The demo has no model: what its agent reads and answers is scripted"

// Household is the name of the demo's agent, and AgentReads the Message-ID of the message that it works on.
const (
	Household  = "household"
	AgentReads = "personal-landlord@kranich-haus.example"
)

// sweep is a sentence of that message.
const sweep = "the chimney sweep comes on Thursday, 5 March"

//go:embed agents
var profiles embed.FS

// WriteProfiles writes the profiles of the demo's agents into a folder, if it is not there. What a person has changed
// in them stays.
func WriteProfiles(folder string) error {
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := profiles.ReadDir("agents")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		content, err := profiles.ReadFile("agents/" + e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, e.Name()), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// The purposes of the calls that package agent makes.
const (
	reads   = "agent.read"
	acts    = "agent.act"
	reports = "agent.report"
)

// work answers for an agent: it reads the thread of the one message, and hands it to the person.
func work(r *llm.Request) (*llm.Response, error) {
	knows := slices.ContainsFunc(r.Messages, func(m llm.Message) bool { return strings.Contains(m.Text, sweep) })
	switch {
	case r.Purpose == reports:
		return &llm.Response{Model: name, Text: AgentNote + "."}, nil
	case r.Purpose == reads && knows:
		return answerForm("appointment", []string{"Will somebody be at home?"}, []string{"5 March"})
	case r.Purpose == reads:
		return answerForm("other", nil, nil)
	case !knows:
		return end(agent.OutcomeNone, "Scripted: the demo has no model, and its agent knows one message of the sample.")
	case slices.ContainsFunc(r.Tools, func(t llm.Tool) bool { return t.Name == agent.ReadThread }) &&
		!slices.ContainsFunc(r.Messages, func(m llm.Message) bool { return m.Role == llm.RoleTool }):
		return call(agent.ReadThread, struct{}{})
	}
	return end(agent.OutcomeEscalate, "Scripted: the chimney sweep comes on 5 March between 8:00 and 10:00, and somebody "+
		"has to be at home. Only you know whether you are.")
}

func answerForm(intent string, questions, dates []string) (*llm.Response, error) {
	text, err := json.Marshal(map[string]any{"intent": intent, "questions": append([]string{}, questions...),
		"dates": append([]string{}, dates...), "numbers": []string{}})
	return &llm.Response{Model: name, Text: string(text)}, err
}

func end(o agent.Outcome, reason string) (*llm.Response, error) {
	return call("finish_"+string(o), map[string]any{"reason": reason, "confidence": 0.9})
}
