package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
)

// An Outcome is how a run ends.
type Outcome string

// The outcomes, and the kinds of actions that they become.
const (
	OutcomeLabel      Outcome = "label"       // apply_label
	OutcomeArchive    Outcome = "archive"     // archive
	OutcomeDraft      Outcome = "draft"       // [Draft], which a host has to add
	OutcomeReply      Outcome = "reply"       // auto_reply
	OutcomeEscalate   Outcome = "escalate"    // escalate
	OutcomeNote       Outcome = "note"        // add_note
	OutcomeSnooze     Outcome = "snooze"      // snooze
	OutcomeCreateTask Outcome = "create_task" // create_task
	OutcomeNone       Outcome = "none"        // none
)

// Draft is the kind of action that [OutcomeDraft] becomes. Its parameters are to, a list of addresses, and body, a
// plain text. Nobody gets anything by a draft, so to is no Recipient of the kind. The host carries it out.
const Draft postroom.ActionType = "draft"

// Outcomes returns all outcomes.
func Outcomes() []Outcome {
	list := make([]Outcome, 0, len(endings))
	for o := range endings {
		list = append(list, o)
	}
	slices.Sort(list)
	return list
}

// finishPrefix begins the names of the tools that end a run.
const finishPrefix = "finish_"

// The limits of the texts of an outcome, in characters.
const (
	maxReason  = 500
	maxOutcome = 2000
)

// given is in the arguments of every outcome.
type given struct {
	Reason     string  `json:"reason"     jsonschema:"why the run ends so, in one or two sentences"`
	Confidence float64 `json:"confidence" jsonschema:"how sure the outcome is, from 0 to 1"`
}

// An ending describes an outcome.
type ending struct {
	action   postroom.ActionType
	example  postroom.Parameters // what the host's kind must take
	tool     llm.Tool
	decision func(r *run, raw []byte) (postroom.Parameters, given, error)
}

// common returns what is in the arguments of every outcome.
func (g given) common() given { return g }

// newEnding makes the ending whose arguments are the fields of A, which has those of given.
func newEnding[A interface{ common() given }](o Outcome, action postroom.ActionType, summary string,
	example postroom.Parameters, parameters func(r *run, a A) (postroom.Parameters, error)) ending {
	schema, resolved, err := schemaOf[A]()
	if err != nil {
		panic(fmt.Sprintf("llm/agent: the arguments of %s are plain values: %v", o, err))
	}
	tool := llm.Tool{Name: finishPrefix + string(o), Description: "End the run: " + summary, Schema: schema}
	return ending{action, example, tool, func(r *run, raw []byte) (postroom.Parameters, given, error) {
		a, err := decodeArguments[A](raw, resolved)
		if err != nil {
			return nil, given{}, err
		}
		g, err := a.common().checked()
		if err != nil {
			return nil, g, err
		}
		p, err := parameters(r, a)
		return p, g, err
	}}
}

// checked returns the reason as a line for people.
func (g given) checked() (given, error) {
	g.Reason = cleantext.Cut(cleantext.OneLine(g.Reason), maxReason)
	switch {
	case g.Reason == "":
		return g, faultf("the reason is blank: write one")
	case g.Confidence < 0 || g.Confidence > 1:
		return g, faultf("the confidence %v is not within 0 to 1", g.Confidence)
	}
	return g, nil
}

type (
	labelArguments struct {
		given

		Label string `json:"label" jsonschema:"the name of the label"`
	}
	answerArguments struct {
		given

		Body string `json:"body"         jsonschema:"the plain text of the answer, at most 2000 characters, without links"`
		To   []int  `json:"to,omitempty" jsonschema:"the numbers of the participants; the sender if left out"`
	}
	noteArguments struct {
		given

		Note string `json:"note" jsonschema:"the text of the note"`
	}
	snoozeArguments struct {
		given

		When string `json:"when" jsonschema:"such as tomorrow, friday noon, 2027-01-31 9:30, in 3 days"`
	}
	taskArguments struct {
		given

		Title string `json:"title"           jsonschema:"what is to be done"`
		Due   string `json:"due,omitempty"   jsonschema:"when it is due, such as 2027-01-31T08:00:00Z"`
		Notes string `json:"notes,omitempty" jsonschema:"details"`
	}
)

var endings = func() map[Outcome]ending {
	none := func(*run, given) (postroom.Parameters, error) { return postroom.Parameters{}, nil }
	answer := postroom.Parameters{"to": []any{"somebody@example.com"}, "body": "text"}
	return map[Outcome]ending{
		OutcomeLabel: newEnding(OutcomeLabel, postroom.ApplyLabel, "put a label on the message.",
			postroom.Parameters{postroom.ParamLabel: "label"}, labelParameters),
		OutcomeArchive: newEnding(OutcomeArchive, postroom.Archive, "archive the message.", nil, none),
		OutcomeDraft:   newEnding(OutcomeDraft, Draft, "leave a draft of an answer to the owner.", answer, answerParameters),
		OutcomeReply:   newEnding(OutcomeReply, postroom.AutoReply, "propose to send an answer.", answer, answerParameters),
		OutcomeEscalate: newEnding(OutcomeEscalate, postroom.Escalate, "hand the message to a person.",
			postroom.Parameters{"reason": "text"},
			func(_ *run, g given) (postroom.Parameters, error) {
				return postroom.Parameters{"reason": g.Reason}, nil
			}),
		OutcomeNote: newEnding(OutcomeNote, postroom.AddNote, "keep a note about the message.",
			postroom.Parameters{"note": "text"},
			func(_ *run, a noteArguments) (postroom.Parameters, error) {
				return postroom.Parameters{"note": a.Note}, nil
			}),
		OutcomeSnooze: newEnding(OutcomeSnooze, postroom.Snooze, "take the message out of the inbox until a time.",
			postroom.Parameters{"when": "tomorrow"},
			func(_ *run, a snoozeArguments) (postroom.Parameters, error) {
				return postroom.Parameters{"when": a.When}, nil
			}),
		OutcomeCreateTask: newEnding(OutcomeCreateTask, postroom.CreateTask, "make a task of the message.",
			postroom.Parameters{"title": "text"}, taskParameters),
		OutcomeNone: newEnding(OutcomeNone, postroom.None, "do nothing.", nil, none),
	}
}()

// labelParameters names a label of the owner by its id.
func labelParameters(r *run, a labelArguments) (postroom.Parameters, error) {
	for _, l := range r.prepared.Labels {
		if strings.EqualFold(l.Name, a.Label) {
			return postroom.Parameters{postroom.ParamLabel: l.ID}, nil
		}
	}
	return nil, faultf("there is no label %q to choose: call %s, or end otherwise", a.Label, ListLabels)
}

// answerParameters takes recipients from the participants of the thread, and from nowhere else.
func answerParameters(r *run, a answerArguments) (postroom.Parameters, error) {
	numbers := a.To
	if len(numbers) == 0 {
		numbers = []int{1}
	}
	to := []any{}
	for _, n := range numbers {
		if n < 1 || n > len(r.prepared.Participants) {
			return nil, faultf("there is no participant %d: the numbers are 1 to %d", n, len(r.prepared.Participants))
		}
		address := r.prepared.Participants[n-1]
		if r.narrow && address != r.prepared.Correspondent {
			return nil, faultf("participant %d must not read what the tools have returned: answer the sender alone", n)
		}
		if !slices.Contains(to, any(address)) {
			to = append(to, address)
		}
	}
	return postroom.Parameters{"to": to, "body": a.Body}, nil
}

func taskParameters(_ *run, a taskArguments) (postroom.Parameters, error) {
	p := postroom.Parameters{"title": a.Title}
	if a.Due != "" {
		p["due"] = a.Due
	}
	if a.Notes != "" {
		p["notes"] = a.Notes
	}
	return p, nil
}

// decide makes the decision of an outcome. Its errors are [*FaultError]s.
func (r *run) decide(o Outcome, raw []byte) (postroom.Decision, error) {
	e, ok := endings[o]
	if !ok || !slices.Contains(r.profile.Outcomes, o) {
		return postroom.Decision{}, faultf("there is no outcome %s: the outcomes are %s", o, join(r.profile.Outcomes))
	}
	p, g, err := e.decision(r, raw)
	if err != nil {
		return postroom.Decision{}, err
	}
	if err := r.checkTexts(e.action, p); err != nil {
		return postroom.Decision{}, err
	}
	d := r.decision(e.action, p, g)
	if err := d.Validate(r.agent.cfg.Kinds, time.Now()); err != nil {
		return d, faultf("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return d, nil
}

// decision is that of a model, always: without a rule and a safe mode.
func (r *run) decision(action postroom.ActionType, p postroom.Parameters, g given) postroom.Decision {
	return postroom.Decision{
		Action: action, Parameters: p, Confidence: g.Confidence, Source: postroom.SourceModel, Model: r.model,
		Rationale: fmt.Sprintf("Agent %s: %s", r.profile.Name, g.Reason), Key: "agent:" + r.id,
		Explanations: postroom.Explanations{SalientFeatures: []string{"run " + r.id}},
	}
}

// checkTexts bounds the texts of an outcome, and refuses links and addresses that are not the owner's. It replaces the
// texts by what a person sees of them.
func (r *run) checkTexts(action postroom.ActionType, p postroom.Parameters) error {
	for name, value := range p {
		text, ok := value.(string)
		if !ok || slices.Contains(r.agent.cfg.Kinds.LabelParameters(action), name) {
			continue
		}
		text = strings.TrimSpace(cleantext.Visible(text))
		if n := len([]rune(text)); n > maxOutcome {
			return faultf("%s has %d characters: write at most %d", name, n, maxOutcome)
		}
		for _, found := range linksAndAddresses(text) {
			if !r.isOwners(found) {
				return faultf("%s has the link or address %q, which is not the owner's: leave it out", name, found)
			}
		}
		p[name] = text
	}
	return nil
}

// isOwners reports whether the owner's own words of this run have the link or address, or a participant has it.
func (r *run) isOwners(found string) bool {
	found = strings.ToLower(strings.TrimRight(found, ".,;:!?)>"))
	return slices.Contains(r.owners, found) || slices.Contains(r.prepared.Participants, mailname.Address(found))
}

// remember notes the links and addresses of the owner's words.
func (r *run) remember(text string) {
	for _, found := range linksAndAddresses(text) {
		r.owners = append(r.owners, strings.ToLower(strings.TrimRight(found, ".,;:!?)>")))
	}
}

// encodeParameters is for the record.
func encodeParameters(p postroom.Parameters) (string, error) {
	if p == nil {
		p = postroom.Parameters{}
	}
	encoded, err := json.Marshal(p)
	return string(encoded), err
}
