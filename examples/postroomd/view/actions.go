package view

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/filing"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// Actions are a page of what was done, newest first.
type Actions struct {
	List []ListedAction `json:"actions"`
	Next string         `json:"next,omitempty"` // the id of the action after which the next page begins; empty on the last one
}

// A ListedAction is an action with what may be done about it.
type ListedAction struct {
	Deed
	Mailbox  string `json:"mailbox"`             // its address
	Undo     string `json:"undo,omitempty"`      // what became of its undo, in words; empty if nobody has asked for it
	UndoneBy string `json:"undone_by,omitempty"` // who has asked for it
	CanUndo  bool   `json:"can_undo"`
	IsUndo   bool   `json:"is_undo"` // taking it back does the first action again
}

// ActionsPage is the number of actions on a page.
const ActionsPage = 50

// NewActions reads a page of the actions that the filter selects.
func NewActions(ctx context.Context, h *app.App, f safety.Filter) (*Actions, error) {
	f.Limit = ActionsPage + 1
	entries, err := h.Ledger.Actions(ctx, f)
	if err != nil {
		return nil, err
	}
	v := new(Actions)
	if len(entries) > ActionsPage {
		entries = entries[:ActionsPage]
		v.Next = entries[ActionsPage-1].Action.ID
	}
	names, err := namesOf(ctx, h, entries)
	if err != nil {
		return nil, err
	}
	mailboxes, err := Mailboxes(ctx, h)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		listed, err := newListedAction(ctx, h, e, names, mailboxes)
		if err != nil {
			return nil, err
		}
		v.List = append(v.List, listed)
	}
	return v, nil
}

// namesOf are the names of labels, those of the entries included that are gone.
func namesOf(ctx context.Context, h *app.App, entries []safety.Entry) (app.LabelNames, error) {
	names, err := h.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	return names, h.NameDeletedLabels(ctx, names, entries)
}

func newListedAction(ctx context.Context, h *app.App, e safety.Entry, names app.LabelNames,
	mailboxes map[string]string) (ListedAction, error) {
	v := ListedAction{Deed: NewDeed(e, names), Mailbox: mailboxes[e.Action.AccountID],
		IsUndo: safety.IsUndo(e.Action.Type)}
	if e.Action.State != postroom.ActionCompleted || !e.Action.UndoHint.Undoable() {
		return v, nil
	}
	r, err := h.Undoer.Result(ctx, e.Action.ID)
	if err != nil {
		return v, err
	}
	v.CanUndo = r.Ending == undo.EndingOpen || r.Ending == undo.EndingFailed
	if v.UndoneBy, err = undoneBy(ctx, h, r.JobID); err != nil {
		return v, err
	}
	v.Undo = undoWords(r, v.UndoneBy)
	return v, nil
}

// undoneBy reads who has requested the undo that a job carries out; empty if that is not known.
func undoneBy(ctx context.Context, h *app.App, jobID string) (string, error) {
	if jobID == "" {
		return "", nil
	}
	e, _, err := h.Audit.Undo(ctx, jobID)
	return safety.UndoRequester(e), err
}

// undoWords say what became of an undo, and who has asked for it if that is known; empty if nobody has.
func undoWords(r undo.Result, who string) string {
	by, asked := "", ""
	if who != "" {
		by, asked = " by "+who, ", as "+who+" has asked"
	}
	switch r.Ending {
	case undo.EndingOpen, undo.EndingRefused:
		return ""
	case undo.EndingFailed:
		return "taking it back failed: " + printer.Printable(r.Err.Error())
	case undo.EndingWaiting:
		return "is being taken back" + asked
	case undo.EndingPart:
		return "taken back in part" + by
	case undo.EndingKept:
		return "taken back" + by + "; what was changed since is kept"
	default:
		return "taken back" + by
	}
}

// A WholeAction is an action with what it was about, and what its undo would do or has done.
type WholeAction struct {
	ListedAction
	Kind     postroom.ActionType `json:"kind"`
	Decision Decision            `json:"decision"`
	Message  string              `json:"message,omitempty"` // the id of the message, at Gmail; empty if it is no longer here
	JobID    string              `json:"job_id,omitempty"`
	CallID   string              `json:"call_id,omitempty"`  // the call of the model that decided; empty if it is not on record
	TraceID  string              `json:"trace_id,omitempty"` // of OpenTelemetry, in which it was to be done; empty without one
	Approver string              `json:"approver,omitempty"` // who has approved it; empty if nobody was asked
	Held     string              `json:"held,omitempty"`     // why it does not start now; empty if it may
	Change   *LabelChange        `json:"change,omitempty"`   // nil: what it was before and after is not on record
	Filed    []string            `json:"filed,omitempty"`    // what became of attached files, and their paths
	CameOf   []LinkedAction      `json:"came_of,omitempty"`  // the actions that led to it
	LedTo    []LinkedAction      `json:"led_to,omitempty"`   // those that it led to
	Plan     []string            `json:"plan,omitempty"`     // what its undo would do, or has done, one thing a line
	Refused  string              `json:"refused,omitempty"`  // why it cannot be taken back
}

// patience is how long Gmail is waited for; the rest of the page is there without it.
const patience = 2 * time.Second

// NewWholeAction reads an action by its id.
func NewWholeAction(ctx context.Context, h *app.App, id string) (*WholeAction, error) {
	a, err := h.Ledger.Action(ctx, id)
	if err != nil {
		return nil, err
	}
	d, err := h.Ledger.Decision(ctx, a.DecisionID)
	if err != nil {
		return nil, err
	}
	entry := safety.Entry{Action: a, Decision: d}
	names, err := namesOf(ctx, h, []safety.Entry{entry})
	if err != nil {
		return nil, err
	}
	mailboxes, err := Mailboxes(ctx, h)
	if err != nil {
		return nil, err
	}
	v := &WholeAction{Kind: a.Type, Decision: NewDecision(d, names), JobID: a.JobID}
	if v.ListedAction, err = newListedAction(ctx, h, entry, names, mailboxes); err != nil {
		return nil, err
	}
	if hint := a.UndoHint; hint != nil && hint.Before != nil && hint.After != nil {
		v.Change = changeBetween(a.AccountID, *hint.Before, *hint.After, names)
	}
	v.Filed = filing.Told(a)
	return v, errors.Join(v.readPermit(ctx, h), v.readUndo(ctx, h, a, names), v.readMessage(ctx, h, a),
		v.readLinks(ctx, h), v.readTrace(ctx, h), v.readCall(ctx, h, d))
}

// readCall reads which call of a model has led to the decision, as long as calls are kept: the last that was answered.
func (v *WholeAction) readCall(ctx context.Context, h *app.App, d safety.DecisionRecord) error {
	if d.Decision.Source != postroom.SourceModel {
		return nil
	}
	calls, err := h.Models.Records.CallsAbout(ctx, d.AccountID, d.MessageID, 100)
	for _, c := range calls {
		if c.Model == d.Decision.Model && (c.State == llm.Answered || c.State == llm.Cached) && !c.At.After(d.CreatedAt) {
			v.CallID = c.ID
		}
	}
	return err
}

// A LinkedAction is one that led to another, or that another led to.
type LinkedAction struct {
	ID    string `json:"id"`
	Did   string `json:"did"`   // in words
	Words string `json:"words"` // how one came of the other
}

// readLinks reads the actions that led to the action, and those that it led to.
func (v *WholeAction) readLinks(ctx context.Context, h *app.App) error {
	links, err := safety.LinksOf(ctx, h.DB, v.ID)
	if err != nil {
		return err
	}
	for _, l := range links {
		other, list := l.Effect, &v.LedTo
		if l.Effect == v.ID {
			other, list = l.Cause, &v.CameOf
		}
		a, err := h.Ledger.Action(ctx, other)
		if err != nil {
			return err
		}
		*list = append(*list, LinkedAction{ID: a.ID, Did: KindWords(a.Type), Words: linkWords(l.Relation)})
	}
	return nil
}

func linkWords(r safety.Relation) string {
	if r == safety.RelationApproval {
		return "a person chose the one in place of the other"
	}
	return "the one began what decided on the other"
}

// readTrace reads the trace in which the job of the action was enqueued, as long as the job is kept.
func (v *WholeAction) readTrace(ctx context.Context, h *app.App) error {
	if v.JobID == "" {
		return nil
	}
	job, err := h.Queue.Job(ctx, v.JobID)
	if errors.Is(err, queue.ErrJobNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if fields := strings.Split(job.TraceParent, "-"); len(fields) > 1 { // version, trace, span and flags
		v.TraceID = fields[1]
	}
	return nil
}

// readPermit reads who has approved the action, and why it does not start.
func (v *WholeAction) readPermit(ctx context.Context, h *app.App) error {
	requests, err := h.Ledger.ApprovalsOf(ctx, v.ID)
	for _, r := range requests {
		if r.Outcome == safety.OutcomeApproved || r.Outcome == safety.OutcomeRejected {
			v.Approver = r.Approver
		}
	}
	if err != nil {
		return err
	}
	err = h.Ledger.HeldAction(ctx, v.ID)
	if held, ok := errors.AsType[*postroom.HeldError](err); ok {
		v.Held, err = held.Error(), nil
	}
	return err
}

// readUndo reads what the undo of the action would do, or has done.
func (v *WholeAction) readUndo(ctx context.Context, h *app.App, a postroom.Action, names app.LabelNames) error {
	if a.State != postroom.ActionCompleted {
		return nil
	}
	plan, text := h.Undoer.Plan, PlanText
	if v.Undo != "" && !v.CanUndo {
		plan = h.Undoer.Report
		text = func(_ postroom.Action, r undo.Report, name func(string) string) string { return UndoText(r, name) }
	}
	asking, stop := context.WithTimeout(ctx, patience)
	defer stop()
	report, err := plan(asking, a.ID)
	switch {
	case errors.Is(err, undo.ErrRefused):
		v.Refused = err.Error()
		return nil
	case errors.Is(err, undo.ErrNotUndone):
		return nil
	case err != nil:
		v.Refused = "what would be left alone cannot be read now: " + err.Error()
		return nil
	}
	v.Plan = textLines(text(a, report, func(id string) string { return names.Name(a.AccountID, id) }))
	return nil
}

func (v *WholeAction) readMessage(ctx context.Context, h *app.App, a postroom.Action) error {
	m, err := h.Mail.Message(ctx, a.AccountID, a.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil
	}
	if err == nil {
		v.Message = m.ProviderID
	}
	return err
}
