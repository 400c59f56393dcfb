package ruleschat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// proposeRules is the name of the model's one tool.
const proposeRules = "propose_rules"

var proposeTool = llm.Tool{
	Name: proposeRules,
	Description: "Propose a change of the rules. The person sees it and decides; nothing changes before. Call it once, and only when it is clear " +
		"what the person wants; otherwise ask.",
	Schema: json.RawMessage(`{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "summary": {"type": "string", "description": "In a sentence or two, for the person: what will happen to which mail."},
    "rules": {"type": "string", "description": "A rules file in YAML that has only the rules to add or to replace, below rules:, and below labels: those that do not exist yet. A rule replaces the one of the same name. Empty for none."},
    "remove": {"type": "array", "items": {"type": "string"}, "description": "The names of rules that go."}
  },
  "required": ["summary"]
}`),
}

const instructions = `You help a person to write rules for their mail. The rules are a YAML file; a program carries them out, without you.

Answer in the language of the person, in plain words and briefly. When it is not clear which mail is meant or what should be done with it, ask one question. When it is clear, call ` + proposeRules + `. The person sees what the rules would become and accepts them or tells you what is wrong.

Write few and simple rules. Prefer conditions on the sender and the list to words in the text. Rules are tried by priority, the lowest first (100 where none is written), and in the order of the file among equals; the first that matches decides, unless it says stop: false. Never write safe_mode: dangerous_override. Keep the rules that the person has, unless they want them changed. Tests in the file are the person's and must stay true.`

// The limits of the model's input.
const (
	maxHistory = 20       // messages of the session, the latest
	maxRules   = 64 << 10 // bytes of the person's rules
	maxLabels  = 500
)

// conversation returns the model's input: its task, the form of rules, the rules in use, and the messages so far.
func (c *Chat) conversation(turn Turn, said []Message) []llm.Message {
	system := strings.Join([]string{
		instructions,
		"THE JSON SCHEMA OF A RULES FILE\n" + c.schema(),
		"THE LABELS OF THE MAILBOX\n" + labelNames(turn),
		"THE RULES IN USE\n" + rulesText(turn.Rules),
	}, "\n\n")
	list := []llm.Message{{Role: llm.RoleSystem, Text: system}}
	for _, m := range said[max(0, len(said)-maxHistory):] {
		text := m.spoken()
		// A message without an answer, because the model could not be called, is one turn together with the next.
		if last := &list[len(list)-1]; last.Role == m.Role {
			last.Text += "\n\n" + text
			continue
		}
		list = append(list, llm.Message{Role: m.Role, Text: text})
	}
	if list[1].Role == llm.RoleAssistant {
		list = slices.Delete(list, 1, 2) // a conversation begins with the person
	}
	return list
}

func (c *Chat) schema() string {
	var compact bytes.Buffer
	if json.Compact(&compact, rulesfile.Schema(c.cfg.Kinds)) != nil {
		return string(rulesfile.Schema(c.cfg.Kinds))
	}
	return compact.String()
}

func labelNames(turn Turn) string {
	names := slices.Clone(turn.Rules.Labels)
	for _, l := range turn.Labels {
		if l.AvailableToClassifier {
			names = append(names, l.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names[:min(len(names), maxLabels)], "\n")
}

// rulesText returns the file, or, if it is too long, the names of the rules, one a line.
func rulesText(f *rulesfile.File) string {
	text := f.Source
	if text == "" {
		text = string(rulesfile.Marshal(f))
	}
	if len(text) <= maxRules {
		return text
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The file is long; these are its %d rules, in its order. To change one, write it anew.\n",
		len(f.Rules))
	for i := range f.Rules {
		r := &f.Rules[i]
		line := fmt.Sprintf("%q, priority %d: if %s then %s\n", r.Name, r.Priority, r.Condition.String(), r.Action)
		if b.Len()+len(line) > maxRules {
			fmt.Fprintf(&b, "and %d others\n", len(f.Rules)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// spoken returns the message as a turn of the conversation.
func (m *Message) spoken() string {
	if m.Proposal == nil {
		return m.Text
	}
	became := "It has not been accepted."
	if !m.Proposal.AcceptedAt.IsZero() {
		became = "It was accepted."
	}
	text := m.Text + "\n\n(I proposed this. " + became + ")"
	if m.Proposal.Rules != "" {
		text += "\n" + m.Proposal.Rules
	}
	if len(m.Proposal.Remove) > 0 {
		text += "\nremove: " + strings.Join(m.Proposal.Remove, ", ")
	}
	return text
}
