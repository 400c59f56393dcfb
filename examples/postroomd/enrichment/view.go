package enrichment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm/enrich"
)

// A View is what is known of a message, as all doors of a postroomd show it.
type View struct {
	MessageID  string    `json:"message_id"` // Gmail's
	Received   time.Time `json:"received_at"`
	From       string    `json:"from"`
	Subject    string    `json:"subject"`
	State      string    `json:"state"`
	Category   *Result   `json:"category,omitempty"`
	Importance *Result   `json:"importance,omitempty"`
	Calendar   *Result   `json:"calendar,omitempty"`

	Score       float64             `json:"importance_score"`
	ActionItems []enrich.ActionItem `json:"action_items"`
	Events      []enrich.Event      `json:"calendar_events"`
	// Conflicts say which of its appointments are at the same time as others, where that is looked up.
	Conflicts []string `json:"conflicts,omitempty"`

	// Notes are those about the message, where they are looked up.
	Notes []NoteState `json:"notes,omitempty"`

	UnsubscribeMethod string            `json:"unsubscribe_method,omitempty"`
	UnsubscribeURL    string            `json:"unsubscribe_url,omitempty"`
	Faults            map[string]string `json:"faults,omitempty"`
	// Denials are the results that a person has rejected, by stage.
	Denials map[string]enrich.Denial `json:"denials,omitempty"`
	Unsure  []string                 `json:"unsure"`

	ProcessingMillis int64 `json:"processing_time_ms"`
	Calls            int   `json:"llm_calls_count"`
	Tokens           int   `json:"total_tokens"`
}

// A Result is that of a stage: what, by whom, how surely and why.
type Result struct {
	Value      string  `json:"value"`
	By         string  `json:"by"`
	Confidence float64 `json:"confidence"`
	Reasoning  string  `json:"reasoning"`
	Unsure     bool    `json:"unsure"`
}

// Line says a result on one line.
func (r *Result) Line() string {
	switch {
	case r == nil:
		return ""
	case r.By == string(enrich.ByNone):
		return "not known: " + r.Reasoning
	}
	unsure := ""
	if r.Unsure {
		unsure = "unsure, "
	}
	return fmt.Sprintf("%s (%s%.2f, by %s: %s)", r.Value, unsure, r.Confidence, r.By, r.Reasoning)
}

// Short is the value of a result, with a question mark if it is unsure.
func (r *Result) Short() string {
	switch {
	case r == nil:
		return ""
	case r.Unsure:
		return r.Value + "?"
	}
	return r.Value
}

// A Line is one of what is known of a message.
type Line struct {
	Name, Text string
	// Stage is that whose result it says; empty for other lines.
	Stage string
	// Unsure reports whether a person may answer it.
	Unsure bool
}

// Lines say what is known, in the order in which it is found out, but for the message itself.
func (v *View) Lines() (lines []Line) {
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, Line{Name: name, Text: text})
		}
	}
	result := func(stage enrich.Stage, r *Result) {
		name := string(stage)
		if r != nil {
			lines = append(lines, Line{name, r.Line(), name, r.Unsure})
		}
		if denial, ok := v.Denials[name]; ok {
			add("rejected", denialText(stage, denial))
		}
	}
	add("state", v.State)
	result(enrich.StageCategory, v.Category)
	result(enrich.StageImportance, v.Importance)
	for i := range v.ActionItems {
		add("to do", ItemText(&v.ActionItems[i]))
	}
	result(enrich.StageCalendar, v.Calendar)
	for i := range v.Events {
		add("event", EventText(&v.Events[i]))
	}
	for _, text := range v.Conflicts {
		add("conflict", text)
	}
	for i := range v.Notes {
		add("note", v.Notes[i].Line())
	}
	if v.UnsubscribeMethod != "" {
		add("unsubscribe", v.UnsubscribeMethod+": "+v.UnsubscribeURL)
	}
	for _, stage := range slices.Sorted(maps.Keys(v.Faults)) {
		add("failed", stage+": "+v.Faults[stage])
	}
	add("cost", fmt.Sprintf("calls of a model: %d, tokens: %d, %d ms", v.Calls, v.Tokens, v.ProcessingMillis))
	return lines
}

func denialText(stage enrich.Stage, d enrich.Denial) string {
	text := string(stage) + " " + d.Value + ", by " + d.By
	if d.Why != "" {
		text += ": " + d.Why
	}
	return text
}

// ItemText says what is to be done, and until when.
func ItemText(item *enrich.ActionItem) string {
	if item.Due == "" {
		return item.Text
	}
	return item.Text + ", until " + item.Due
}

// EventText says an appointment on one line.
func EventText(e *enrich.Event) string {
	var repeats, canceled string
	if e.Repeats {
		repeats = "repeats"
	}
	if e.Canceled {
		canceled = "canceled"
	}
	return strings.Join(slices.DeleteFunc([]string{e.Title, e.Start, e.End, e.Zone, e.Place, repeats, canceled},
		func(s string) bool { return s == "" }), ", ")
}

// NewView returns what is known of a message.
func NewView(e *enrich.Enrichment, msg *postroom.Message) View {
	v := View{
		MessageID: msg.ProviderID, Received: e.ReceivedAt, From: msg.From.Email, Subject: msg.Subject, State: string(e.State),
		Category: resultOf(e, enrich.StageCategory), Importance: resultOf(e, enrich.StageImportance),
		Calendar: resultOf(e, enrich.StageCalendar), Score: e.Score,
		ActionItems: append([]enrich.ActionItem{}, e.ActionItems...), Events: append([]enrich.Event{}, e.Events...),
		UnsubscribeMethod: e.Unsubscribe.Method, UnsubscribeURL: e.Unsubscribe.URL, Unsure: []string{},
		ProcessingMillis: e.ProcessingTime.Milliseconds(), Calls: e.Calls, Tokens: e.Tokens,
	}
	for _, s := range e.Unsure {
		v.Unsure = append(v.Unsure, string(s))
	}
	for s, why := range e.Faults {
		if v.Faults == nil {
			v.Faults = map[string]string{}
		}
		v.Faults[string(s)] = why
	}
	for s, denial := range e.Denials {
		if v.Denials == nil {
			v.Denials = map[string]enrich.Denial{}
		}
		v.Denials[string(s)] = denial
	}
	return v
}

func resultOf(e *enrich.Enrichment, s enrich.Stage) *Result {
	told := e.Told(s)
	if told.By == "" {
		return nil
	}
	unsure := told.By != enrich.ByNone && !e.Stands(s)
	return &Result{e.Value(s), string(told.By), told.Confidence, told.Reasoning, unsure}
}

// A Page is a part of what is known of the mail of a mailbox, the newest first.
type Page struct {
	List []View `json:"list"`
	Next string `json:"next,omitempty"` // before of the next page; empty on the last one
}

// List returns what is known of mail of a mailbox, after the page that ended with Next, or the first page. Mail that is
// no longer stored is left out.
func List(ctx context.Context, store *enrich.Store, mail *mailstore.Store, f enrich.Filter, before string) (p Page,
	err error) {
	if before != "" {
		if f.After, err = store.Get(ctx, f.AccountID, before); errors.Is(err, postroom.ErrNotFound) {
			return p, usage.Errorf("%q is the next of no page; begin at the first page", before)
		}
		if err != nil {
			return p, err
		}
	}
	found, err := store.List(ctx, f)
	if err != nil {
		return p, err
	}
	p.List = []View{}
	if len(found) > 0 && len(found) == f.Limit {
		p.Next = found[len(found)-1].MessageID
	}
	for _, e := range found {
		msg, err := mail.Message(ctx, e.AccountID, e.MessageID)
		if errors.Is(err, postroom.ErrNotFound) {
			continue
		}
		if err != nil {
			return p, err
		}
		p.List = append(p.List, NewView(e, msg))
	}
	return p, nil
}

// A Sign is what is known of a message in a list of mail. A value with a question mark is unsure.
type Sign struct {
	Topic    string `json:"topic,omitempty"`
	Priority string `json:"priority,omitempty"`
	ToDo     int    `json:"action_items,omitempty"` // how many
	Events   int    `json:"events,omitempty"`       // that are not canceled
}

// Signs returns what is known of messages of a mailbox, by their ids.
func Signs(ctx context.Context, store *enrich.Store, accountID string, messageIDs ...string) (map[string]Sign, error) {
	known, err := store.Of(ctx, accountID, messageIDs...)
	if err != nil {
		return nil, err
	}
	signs := make(map[string]Sign, len(known))
	for id, e := range known {
		sign := Sign{Topic: short(e, enrich.StageCategory), Priority: short(e, enrich.StageImportance),
			ToDo: len(e.ActionItems)}
		for i := range e.Events {
			if !e.Events[i].Canceled {
				sign.Events++
			}
		}
		signs[id] = sign
	}
	return signs, nil
}

func short(e *enrich.Enrichment, s enrich.Stage) string {
	r := resultOf(e, s)
	if r == nil || r.By == string(enrich.ByNone) {
		return ""
	}
	return r.Short()
}

// Meant is the condition of a search for mail of a category and a level; empty ones ask for nothing.
func Meant(category, level string) mailindex.Condition {
	f := enrich.Filter{Category: category, Level: level}
	sql, args := f.Condition("m.account_id", "m.id")
	return mailindex.Condition{SQL: sql, Args: args}
}

// Of returns what is known of a message; nil if nothing is.
func Of(ctx context.Context, store *enrich.Store, msg *postroom.Message) (*View, error) {
	e, err := store.Get(ctx, msg.AccountID, msg.ID)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, nil //nolint:nilnil // nothing is known, which is no error
	}
	if err != nil {
		return nil, err
	}
	v := NewView(e, msg)
	return &v, nil
}
