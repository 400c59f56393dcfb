package view

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// An Undos counts the results of many undos, and keeps a few as examples.
type Undos struct {
	Planned  bool // they are what would be
	Names    app.LabelNames
	Examples int // of each group

	groups []*undoGroup
	mail   map[string]safety.DecisionRecord // of the examples, by the id of the decision
}

// maxReasons bounds the groups of each ending: some reasons name a message or an action.
const maxReasons = 5

// An undoGroup is a group of results with the same ending and reason.
type undoGroup struct {
	ending   undo.Ending
	reason   string
	n        int
	examples []undo.Result
}

// Endings are all endings, in the order for people.
var endings = []undo.Ending{
	undo.EndingRestored, undo.EndingPart, undo.EndingKept, undo.EndingNothing, undo.EndingHost, undo.EndingWaiting,
	undo.EndingOpen,
	undo.EndingRefused, undo.EndingFailed,
}

// Add counts the result of an undo.
func (t *Undos) Add(r undo.Result) {
	reason := ""
	if r.Err != nil {
		reason = r.Err.Error()
	}
	same := func(g *undoGroup) bool { return g.ending == r.Ending && g.reason == reason }
	i := slices.IndexFunc(t.groups, same)
	if i < 0 {
		if t.reasons(r.Ending) >= maxReasons {
			reason = "other reasons; --json has all"
		}
		if i = slices.IndexFunc(t.groups, same); i < 0 {
			i = len(t.groups)
			t.groups = append(t.groups, &undoGroup{ending: r.Ending, reason: reason})
		}
	}
	g := t.groups[i]
	g.n++
	if len(g.examples) < t.Examples {
		g.examples = append(g.examples, r)
	}
}

func (t *Undos) reasons(e undo.Ending) (n int) {
	for _, g := range t.groups {
		if g.ending == e {
			n++
		}
	}
	return n
}

func (t *Undos) count(counts func(undo.Ending) bool) (n int) {
	for _, g := range t.groups {
		if counts(g.ending) {
			n += g.n
		}
	}
	return n
}

// Endings returns the counts by ending, without zeros.
func (t *Undos) Endings() map[undo.Ending]int {
	counts := make(map[undo.Ending]int)
	for _, g := range t.groups {
		counts[g.ending] += g.n
	}
	return counts
}

// Fault returns the error that the command ends with.
func (t *Undos) Fault() error {
	is := func(e undo.Ending) func(undo.Ending) bool { return func(other undo.Ending) bool { return e == other } }
	failed, refused := t.count(is(undo.EndingFailed)), t.count(is(undo.EndingRefused))
	switch {
	case failed > 0 && t.Planned:
		return fmt.Errorf("%s would fail", printer.Count(failed, "undo", "undos"))
	case failed > 0:
		return fmt.Errorf("%s failed; they can be asked for again", printer.Count(failed, "undo", "undos"))
	case refused > 0 && refused == t.count(func(undo.Ending) bool { return true }):
		return usage.Errorf("none of the %s can be taken back", printer.Count(refused, "action", "actions"))
	}
	return nil
}

// Print prints the counts for people.
func (t *Undos) Print(w io.Writer) error {
	_, err := io.WriteString(w, printer.WrapLines(t.text(), printer.TerminalWidth(w)))
	return err
}

func (t *Undos) text() string {
	what := map[bool]string{true: "would be taken back", false: "taken back"}[t.Planned]
	undone := t.count(undo.Ending.Undone)
	all := t.count(func(undo.Ending) bool { return true })
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, %d not\n", printer.Count(undone, "action", "actions"), what, all-undone)
	t.sort()
	for _, g := range t.groups {
		fmt.Fprintf(&b, "\n%d %s\n", g.n, t.say(g))
		for _, r := range g.examples {
			b.WriteString(t.example(r))
			if d, known := t.mail[r.Action.DecisionID]; known {
				fmt.Fprintf(&b, "    %s, from %s\n", printer.Short(cmp.Or(d.Subject, "without a subject"), 60),
					printer.Short(d.Sender, 60))
			}
		}
		if rest := g.n - len(g.examples); rest > 0 && len(g.examples) > 0 {
			fmt.Fprintf(&b, "  and %d more\n", rest)
		}
	}
	return b.String()
}

func (t *Undos) sort() {
	slices.SortStableFunc(t.groups, func(a, b *undoGroup) int {
		return slices.Index(endings, a.ending) - slices.Index(endings, b.ending)
	})
}

// Undone counts the actions that are taken back, or would be.
func (t *Undos) Undone() int { return t.count(undo.Ending.Undone) }

// changes reports whether an undo with the ending changes the message.
func changes(e undo.Ending) bool {
	return e == undo.EndingRestored || e == undo.EndingPart || e == undo.EndingHost
}

// Left counts the actions whose mail is left alone, or would be.
func (t *Undos) Left() int { return t.count(func(e undo.Ending) bool { return !changes(e) }) }

// An UndoGroup are the undos with the same ending and reason.
type UndoGroup struct {
	N        int           `json:"n"`
	What     string        `json:"what"`
	Changes  bool          `json:"changes"` // their mail is changed, or would be; that of the others is left alone
	More     int           `json:"more"`    // that are not among the examples
	Examples []UndoExample `json:"examples"`
}

// An UndoExample is one of a group.
type UndoExample struct {
	ID      string   `json:"id"`
	What    string   `json:"what"`
	Subject string   `json:"subject"`
	Sender  string   `json:"sender"`
	Lines   []string `json:"lines"`
}

// ReadMail reads the subjects and senders of the mail that the examples are about, as they were when it was decided
// about.
func (t *Undos) ReadMail(ctx context.Context, h *app.App) error {
	t.mail = map[string]safety.DecisionRecord{}
	for _, g := range t.groups {
		for i := range g.examples {
			id := g.examples[i].Action.DecisionID
			if _, known := t.mail[id]; known {
				continue
			}
			d, err := h.Ledger.Decision(ctx, id)
			if err != nil {
				return err
			}
			t.mail[id] = d
		}
	}
	return nil
}

// Groups returns the groups in the order for people.
func (t *Undos) Groups() []UndoGroup {
	t.sort()
	return printer.List(t.groups, func(g *undoGroup) UndoGroup {
		more := g.n - len(g.examples)
		return UndoGroup{g.n, t.say(g), changes(g.ending), more, printer.List(g.examples, func(r undo.Result) UndoExample {
			about := t.mail[r.Action.DecisionID]
			return UndoExample{r.Action.ID, InWords(r.Action, t.Names), about.Subject, about.Sender, t.exampleLines(r)}
		})}
	})
}

func (t *Undos) exampleLines(r undo.Result) []string {
	lines := textLines(t.example(r))
	return lines[min(1, len(lines)):]
}

// textLines are the lines of a text, without their indents.
func textLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func (t *Undos) example(r undo.Result) string {
	lines := ""
	if r.Ending.Undone() && r.Ending != undo.EndingHost && r.Ending != undo.EndingNothing || len(r.Report.Preserved) > 0 {
		name := func(label string) string { return t.Names.Name(r.Action.AccountID, label) }
		if lines = UndoText(r.Report, name); t.Planned {
			lines = PlanText(r.Action, r.Report, name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %s %s\n", r.Action.ID, app.Describe(r.Action, t.Names))
	for line := range strings.Lines(lines) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// say describes a group.
func (t *Undos) say(g *undoGroup) string {
	switch g.ending {
	case undo.EndingRestored:
		return "put back as before"
	case undo.EndingPart:
		return "put back in part: the rest has been changed since, and is kept"
	case undo.EndingKept:
		return "kept as it is: what the action did has been changed since"
	case undo.EndingNothing:
		return "with nothing to put back: it is as before already"
	case undo.EndingHost:
		return "taken back by what carried it out"
	case undo.EndingWaiting:
		return "not taken back yet: it waits"
	case undo.EndingOpen:
		return "not taken back: nobody has asked for it"
	case undo.EndingRefused:
		return "not taken back: " + printer.Printable(g.reason)
	default:
		return map[bool]string{true: "would fail: ", false: "failed: "}[t.Planned] + printer.Printable(g.reason)
	}
}

// An Undo is the effect of an undo on a message. Labels are by name.
type Undo struct {
	ID         string      `json:"id"`
	Action     string      `json:"action"`
	Label      string      `json:"label,omitempty"`
	Message    string      `json:"message"` // ours
	Ending     undo.Ending `json:"ending"`
	Reason     string      `json:"reason,omitempty"`
	PutBack    []string    `json:"put_back"`
	TakenOff   []string    `json:"taken_off"`
	NotBack    []string    `json:"not_put_back"` // changed since, and kept
	NotOff     []string    `json:"not_taken_off"`
	AddedSince []string    `json:"added_since"` // by people or other programs, and left alone
	LostSince  []string    `json:"removed_since"`
}

// NewUndo makes the view of the result of an undo.
func NewUndo(r undo.Result, names app.LabelNames) Undo {
	name := func(id string) string { return names.Name(r.Action.AccountID, id) }
	since := func(added bool) []string {
		of := slices.DeleteFunc(slices.Clone(r.Report.Preserved), func(s undo.ExternalChange) bool {
			return s.Added != added
		})
		return printer.List(of, func(s undo.ExternalChange) string { return name(s.LabelID) })
	}
	a := webapi.NewAction(safety.Entry{Action: r.Action}, names.Name)
	v := Undo{
		ID: a.ID, Action: string(a.Action), Label: a.Label, Message: r.Action.MessageID, Ending: r.Ending,
		PutBack: printer.List(r.Report.Restored.Add, name), TakenOff: printer.List(r.Report.Restored.Remove, name),
		NotBack: printer.List(r.Report.Skipped.Add, name), NotOff: printer.List(r.Report.Skipped.Remove, name),
		AddedSince: since(true), LostSince: since(false),
	}
	if r.Err != nil {
		v.Reason = r.Err.Error()
	}
	return v
}
