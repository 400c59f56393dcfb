package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/rules/lessons"
)

// A meaningReport is what a demo shows of what mail means. Scripts rely on its JSON.
type meaningReport struct {
	Note         string                  `json:"note"` // whose answers they are
	Messages     int                     `json:"messages"`
	Unknown      int                     `json:"unknown"` // of which the script knows nothing
	WithoutModel int                     `json:"without_model"`
	ModelCalls   int                     `json:"model_calls"`
	Levels       []string                `json:"levels"`
	Categories   []categoryCount         `json:"categories"` // the most frequent first
	Examples     []enrichment.View       `json:"examples"`
	NotesFolder  string                  `json:"notes_folder"`
	Notes        []noteShown             `json:"notes"`
	EventsFolder string                  `json:"events_folder"`
	Event        *enrichment.Appointment `json:"event,omitempty"` // the first that has a file
	Rule         *learning.Rule          `json:"rule,omitempty"`  // that was learned last
	Page         string                  `json:"page,omitempty"`  // its address, if it is served
}

// A categoryCount is how much mail of a category there is, by level of importance.
type categoryCount struct {
	Category string         `json:"category"` // empty: not known
	Messages int            `json:"messages"`
	Unsure   int            `json:"unsure"`
	Levels   map[string]int `json:"levels"`
}

// A noteShown is a note and the first lines of its text.
type noteShown struct {
	Path  string   `json:"path"`
	Lines []string `json:"lines"`
}

// The numbers of what is shown of a kind.
const (
	notesShown  = 2
	linesShown  = 3
	taughtShown = 3
	lineShown   = 70 // characters of a line of a note
)

func (d *demoRun) newMeaningReport(ctx context.Context) (*meaningReport, error) {
	account, err := d.App.Mail.Account(ctx, d.Mailboxes[0])
	if err != nil {
		return nil, err
	}
	r := &meaningReport{Note: scripted.MeaningNote, NotesFolder: string(d.App.Env.Config.Notes.Folder),
		EventsFolder: string(d.App.Env.Config.Enrich.EventsFolder)}
	for _, l := range d.App.Enrichment.Levels() {
		r.Levels = append(r.Levels, l.Name)
	}
	if d.shown != nil {
		r.Page = d.shown.URL
	}
	for _, add := range []func(context.Context, *demoRun, mailstore.Account) error{r.addMail, r.addNotes, r.addEvent,
		r.addRule} {
		if err := add(ctx, d, account); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// addMail counts the mail by category and level, and chooses the examples.
func (r *meaningReport) addMail(ctx context.Context, d *demoRun, account mailstore.Account) error {
	store, f := d.App.Enrichment.Store, enrich.Filter{AccountID: account.ID, Limit: 1000}
	counts := map[string]*categoryCount{}
	for before := ""; ; {
		page, err := enrichment.List(ctx, store, d.App.Mail, f, before)
		if err != nil {
			return err
		}
		for i := range page.List {
			r.count(counts, &page.List[i])
		}
		if before = page.Next; before == "" {
			break
		}
	}
	for _, c := range counts {
		r.Categories = append(r.Categories, *c)
	}
	slices.SortFunc(r.Categories, func(a, b categoryCount) int {
		return cmp.Or(cmp.Compare(b.Messages, a.Messages), cmp.Compare(a.Category, b.Category))
	})
	return nil
}

func (r *meaningReport) count(counts map[string]*categoryCount, v *enrichment.View) {
	r.Messages++
	r.ModelCalls += v.Calls
	name := known(v.Category)
	switch {
	case name == "" || known(v.Importance) == "":
		r.Unknown++
	case v.Calls == 0:
		r.WithoutModel++
	}
	c := counts[name]
	if c == nil {
		c = &categoryCount{Category: name, Levels: map[string]int{}}
		counts[name] = c
	}
	c.Messages++
	if v.Category != nil && v.Category.Unsure {
		c.Unsure++
	}
	c.Levels[known(v.Importance)]++
	if name != "" && !slices.ContainsFunc(r.Examples, func(e enrichment.View) bool {
		return e.Category.By == v.Category.By && e.Category.Unsure == v.Category.Unsure
	}) {
		r.Examples = append(r.Examples, *v)
	}
}

// known is the value of a result; empty if nothing is known.
func known(r *enrichment.Result) string {
	if r == nil || r.By == string(enrich.ByNone) {
		return ""
	}
	return r.Value
}

// addNotes adds the first notes by path; one whose file a person has removed is left out.
func (r *meaningReport) addNotes(ctx context.Context, d *demoRun, account mailstore.Account) error {
	list, err := view.NewNotes(ctx, d.App, notes.Filter{AccountID: account.ID, Limit: 100})
	if err != nil {
		return err
	}
	slices.SortFunc(list.List, func(a, b view.Note) int { return cmp.Compare(a.Path, b.Path) })
	for _, n := range list.List {
		if n.Path == "" || len(r.Notes) == notesShown {
			continue
		}
		text, err := os.ReadFile(filepath.Join(r.NotesFolder, filepath.FromSlash(n.Path)))
		if err != nil {
			continue // moved or removed since
		}
		r.Notes = append(r.Notes, noteShown{n.Path, firstLines(string(text))})
	}
	return nil
}

// firstLines returns the first lines below the front matter of a note.
func firstLines(text string) (lines []string) {
	if in, ok := strings.CutPrefix(text, "---\n"); ok {
		_, text, _ = strings.Cut(in, "\n---\n")
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && len(lines) < linesShown {
			lines = append(lines, line)
		}
	}
	return lines
}

func (r *meaningReport) addEvent(ctx context.Context, d *demoRun, account mailstore.Account) error {
	found, err := enrichment.Upcoming(ctx, d.App.Enrichment.Store, d.App.Mail, account.ID, time.Now(), d.App.OwnZone())
	for i := range found.List {
		if r.Event == nil && found.List[i].File != "" {
			r.Event = &found.List[i]
		}
	}
	return err
}

func (r *meaningReport) addRule(ctx context.Context, d *demoRun, account mailstore.Account) error {
	learned, err := learning.List(ctx, d.App, account)
	if len(learned.Rules) > 0 {
		r.Rule = &learned.Rules[0]
	}
	return err
}

func (r *meaningReport) print(w io.Writer, program, flags string) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	out := printer.NewReport(w)
	out.Heading("What the mail means")
	out.Line(r.Note + ". Nothing was asked on the network.")
	out.Verbatim("\n")
	if err := out.Flush(); err != nil {
		return err
	}
	if err := r.printCategories(w); err != nil {
		return err
	}
	out = printer.NewReport(w)
	out.Verbatim("\n")
	out.Line(fmt.Sprintf("Of %s %d needed no model. The script was called %s; it knows nothing of %d.",
		printer.Count(r.Messages, "message", "messages"), r.WithoutModel, printer.Count(r.ModelCalls, "time", "times"),
		r.Unknown))
	for i := range r.Examples {
		e := &r.Examples[i]
		out.Line(e.Subject)
		out.Add("category", e.Category.Line())
		out.Add("importance", e.Importance.Line())
	}
	r.reportKept(out)
	r.reportRule(out, program, flags)
	out.Heading("The same on the page")
	r.reportPage(out, program, flags)
	return out.Flush()
}

func (r *meaningReport) printCategories(w io.Writer) error {
	columns := []string{"CATEGORY", "MAIL"}
	for _, l := range r.Levels {
		columns = append(columns, strings.ToUpper(l))
	}
	t := printer.NewTable(w, append(columns, "UNSURE")...)
	for i := range r.Categories {
		c := &r.Categories[i]
		cells := []any{cmp.Or(c.Category, "(not known)"), c.Messages}
		for _, l := range r.Levels {
			cells = append(cells, printer.Unless(c.Levels[l] == 0, strconv.Itoa(c.Levels[l])))
		}
		t.Row(append(cells, printer.Unless(c.Unsure == 0, strconv.Itoa(c.Unsure)))...)
	}
	return t.Flush("nothing is known of any mail")
}

// reportKept reports the notes and the appointment.
func (r *meaningReport) reportKept(out *printer.Report) {
	out.Heading("Notes")
	out.Verbatim("in the folder " + r.NotesFolder)
	for _, n := range r.Notes {
		out.Verbatim(n.Path)
		for _, line := range n.Lines {
			out.Quote(printer.Short(line, lineShown))
		}
	}
	out.Heading("An appointment")
	out.Verbatim("in the folder " + r.EventsFolder)
	if r.Event != nil {
		out.Verbatim(r.Event.File)
		out.Add("what", r.Event.Line())
		out.Add("from", r.Event.From+": "+r.Event.Subject)
	}
}

// reportRule reports the learned rule and what has taught it.
func (r *meaningReport) reportRule(out *printer.Report, program, flags string) {
	out.Heading("A learned rule")
	if r.Rule == nil {
		out.Line("nothing was learned that waits for you or is in use")
		return
	}
	out.Line(r.Rule.Name)
	out.Add("state", r.Rule.State)
	out.Add("proven", fmt.Sprintf("%s: %s for it, %d against", r.Rule.Class, printer.Count(r.Rule.Agreeing, "conversation",
		"conversations"), r.Rule.Contradicting))
	for i, m := range r.Rule.Taught[:min(len(r.Rule.Taught), taughtShown)] {
		out.Add(printer.Unless(i > 0, "taught by"), m.Subject)
	}
	if more := r.Rule.Agreeing - taughtShown; more > 0 {
		out.Add("", fmt.Sprintf("and %d more", more))
	}
	out.Line("A person moves these letters by hand; here the demo has done so.")
	if r.Rule.State != lessons.Accepted {
		out.Verbatim(fmt.Sprintf("to accept it: %s learn accept %s %s", program, printer.ShortID(r.Rule.ID), flags))
	}
}

// reportPage reports where the same is shown.
func (r *meaningReport) reportPage(out *printer.Report, program, flags string) {
	if r.Page == "" {
		out.Verbatim(fmt.Sprintf("%s demo %s --dashboard 127.0.0.1:8080", program, flags))
	}
	at := strings.TrimSuffix(r.Page, "/")
	out.Add("meaning", at+"/meaning")
	out.Add("rules", at+"/rules")
	out.Add("messages", at+"/mail")
}
