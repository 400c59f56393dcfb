package view

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/safety/audit"
	"github.com/postroom-go/postroom/safety/events"
)

// An Audit is what verify prints as JSON.
type Audit struct {
	Entries int64         `json:"entries"`
	Rows    int64         `json:"rows"`
	Heads   []string      `json:"heads"`
	Faults  []audit.Fault `json:"faults"`
}

// NewAudit returns the view of a report.
func NewAudit(r *audit.Report) Audit {
	view := Audit{r.Entries, r.Rows, Heads(r.Head), r.Faults}
	if view.Faults == nil {
		view.Faults = []audit.Fault{}
	}
	return view
}

// Heads has the end of the log; it is empty if the log is.
func Heads(end audit.Head) []string {
	if end.Entries == 0 {
		return []string{}
	}
	return []string{end.String()}
}

// PrintAudit prints a report for people.
func PrintAudit(cmd *cobra.Command, r *audit.Report) error {
	f := printer.NewFields(cmd.OutOrStdout())
	f.Add("entries", r.Entries)
	f.Add("rows", r.Rows)
	for _, head := range Heads(r.Head) {
		f.Add("head", head)
	}
	for _, fault := range r.Faults {
		f.Add("fault", fmt.Sprintf("%s %s: %s", fault.Kind, fault.Subject, fault.What))
	}
	if len(r.Faults) == 0 {
		f.Add("faults", "none")
	}
	return f.Flush()
}

// ExportAudit writes the log, an entry a line as JSON, and at last the end of it.
func ExportAudit(ctx context.Context, h *app.App, w io.Writer) error {
	out := json.NewEncoder(w)
	end, err := h.Audit.Each(ctx, func(e *audit.Entry) error { return out.Encode(e) })
	if err != nil {
		return err
	}
	return out.Encode(struct {
		Heads []string `json:"heads"`
	}{Heads(end)})
}

// Acts are a page of what was stopped, changed and said as a whole, newest first. What was done to mail is in
// [Actions].
type Acts struct {
	List []Act  `json:"acts"`
	Next string `json:"next,omitempty"` // the id of the act after which the next page begins; empty on the last one
}

// An Act is one of them.
type Act struct {
	ID      string      `json:"id"`
	Kind    events.Kind `json:"kind"`
	What    string      `json:"what"`              // the kind, in words
	Mailbox string      `json:"mailbox,omitempty"` // its address; empty: it concerns all, or the mailbox was removed
	By      string      `json:"by,omitempty"`      // the person or program; empty: postroomd itself
	Why     string      `json:"why,omitempty"`     // what it was about, or the reason
	At      time.Time   `json:"at"`
}

// actsPage is the number of acts on a page.
const actsPage = 50

// actWords describe the kinds of acts.
var actWords = map[events.Kind]string{
	events.Stopped: "everything was stopped", events.Resumed: "the stop was ended",
	events.BreakerOpened: "a breaker has stopped", events.BreakerClosed: "a breaker was closed",
	events.Settings: "the settings of approvals changed", events.RestoreAccepted: "a restored database was accepted",
	events.NotAsked:   "nobody is asked about the rest of a group",
	events.DraftAsked: "a draft was asked for", events.DraftSend: "a draft was sent",
	events.DraftRework: "a draft was to be written again", events.DraftDiscarded: "a draft was discarded",
	events.VoiceEdited: "the way to write was edited", events.VoiceRebuild: "the way to write was to be learned again",
	events.AwaySet: "an absence was set", events.AwayEnded: "an absence was ended",
	events.DriftWarns: "what rules or models do was often corrected",
	events.DriftAsks:  "people are asked first, since what rules or models do was often corrected",
	events.DriftEnded: "what rules or models do counts as right again",
	app.MailboxPaused: "a mailbox was paused", app.MailboxResumed: "a mailbox was resumed",
	app.MailboxSignedIn: "somebody signed in to a mailbox", app.MailboxSignedOut: "somebody signed out of a mailbox",
	app.MailboxRemoved: "a mailbox was removed", app.LabelDescribed: "a label was described",
	app.InstructionAdded: "an instruction was added", app.InstructionChanged: "an instruction was changed",
	app.InstructionRemoved: "an instruction was removed",
}

// NewActs reads a page of the acts about a mailbox; an empty id stands for all mailboxes, and what concerns them all.
func NewActs(ctx context.Context, h *app.App, accountID, before string) (*Acts, error) {
	list, err := h.Ledger.Events().Page(ctx, events.Filter{AccountID: accountID, Before: before, Limit: actsPage + 1})
	if err != nil {
		return nil, err
	}
	mailboxes, err := Mailboxes(ctx, h)
	if err != nil {
		return nil, err
	}
	v := &Acts{List: make([]Act, 0, len(list))}
	for _, e := range list[:min(len(list), actsPage)] {
		if e.Kind == events.Settings {
			e.Why = "" // all of them, as JSON
		}
		v.List = append(v.List, Act{e.ID, e.Kind, cmp.Or(actWords[e.Kind], string(e.Kind)), mailboxes[e.AccountID], e.By,
			e.Why, e.At})
	}
	if len(list) > actsPage {
		v.Next = v.List[actsPage-1].ID
	}
	return v, nil
}
