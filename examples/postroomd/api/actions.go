package api

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// An actionsAPI lists what was decided and done, and takes it back.
type actionsAPI struct {
	app *app.App
	of  mailboxes
}

func (a actionsAPI) routes() []webapi.Route {
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/actions", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List what was done or is to be done, newest first, 50 a page"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/actions/{id}", Scope: webapi.See, Account: a.of.byAction,
			Summary: "Show an action, and what its undo would do or has done"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/actions/{id}/undo", Scope: webapi.Approve,
			Account: a.of.byAction, NoBody: true,
			Summary: "Take an action back; of an undo, do the action again"}, a.undoOne),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/decisions", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List what was decided, newest first, 50 a page"}, a.decisions),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/decisions/{id}", Scope: webapi.See, Account: a.byDecision,
			Summary: "Show a decision with its reasons, its rule as it was, and what became of its actions"}, a.decision),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/undo/preview", Scope: webapi.See, Account: a.of.byBody,
			Summary: "Say what taking back all that a filter selects would do"}, a.preview),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/undo", Scope: webapi.Approve, Account: a.of.byBody,
			Summary: "Take back what a preview has shown, if it still is that"}, a.undoAll),
	}
}

// An actionQuery is the filter of a list.
type actionQuery struct {
	Mailbox string `jsonschema:"address of the mailbox"                        query:"mailbox"`
	Sender  string `jsonschema:"an address or a domain"                        query:"sender"`
	Rule    string `jsonschema:"the rule that decided, by its name or id"      query:"rule"`
	Kind    string `jsonschema:"the kind of action, such as archive"           query:"kind"`
	Source  string `jsonschema:"deterministic, llm, host or none"              query:"source"`
	State   string `jsonschema:"such as completed, failed or pending_approval" query:"state"`
	Window  string `jsonschema:"how far back, such as 24h or 7d"               query:"window"`
	Least   string `jsonschema:"the decision was at least that sure, 0 to 1"   query:"min_confidence"`
	Most    string `jsonschema:"the decision was at most that sure, 0 to 1"    query:"max_confidence"`
	Batch   string `jsonschema:"what one batch did, by its name"               query:"batch"`
	Before  string `jsonschema:"next of the page before"                       query:"before"`
}

// filter returns the filter of the ledger for the caller of a request.
func (q actionQuery) filter(r *http.Request, h *app.App) (safety.Filter, error) {
	f, err := h.ActionFilter(r.Context(), app.ActionQuery{Mailbox: q.Mailbox, Sender: q.Sender, Rule: q.Rule, Kind: q.Kind,
		Source: q.Source, State: q.State, Window: q.Window, Batch: q.Batch, MinConfidence: q.Least,
		MaxConfidence: q.Most}, time.Now())
	f.Before, f.AccountID = q.Before, cmp.Or(webapi.CallerOf(r).AccountID, f.AccountID)
	return f, err
}

func (a actionsAPI) list(r *http.Request, in actionQuery) (*view.Actions, error) {
	f, err := in.filter(r, a.app)
	if err != nil {
		return nil, err
	}
	return view.NewActions(r.Context(), a.app, f)
}

func (a actionsAPI) show(r *http.Request, _ webapi.None) (*view.WholeAction, error) {
	return view.NewWholeAction(r.Context(), a.app, r.PathValue("id"))
}

type decisions struct {
	Decisions []view.Decision `json:"decisions"`
	Next      string          `json:"next,omitempty"`
}

func (a actionsAPI) decisions(r *http.Request, in actionQuery) (v decisions, err error) {
	f, err := in.filter(r, a.app)
	if err != nil {
		return v, err
	}
	f.Limit = onPage + 1
	list, err := a.app.Ledger.Decisions(r.Context(), f)
	if err != nil {
		return v, err
	}
	names, err := a.app.LabelNames(r.Context())
	v.Decisions = []view.Decision{}
	for _, d := range list[:min(len(list), onPage)] {
		v.Decisions = append(v.Decisions, view.NewDecision(d, names))
	}
	if err == nil && len(list) > onPage {
		v.Next, err = a.actionOf(r, list[onPage-1])
	}
	return v, err
}

func (a actionsAPI) byDecision(r *http.Request) (string, error) {
	d, err := a.app.Ledger.Decision(r.Context(), r.PathValue("id"))
	return d.AccountID, err
}

func (a actionsAPI) decision(r *http.Request, _ webapi.None) (*view.WholeDecision, error) {
	d, err := a.app.Ledger.Decision(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	names, err := a.app.LabelNames(r.Context())
	if err != nil {
		return nil, err
	}
	return view.NewWholeDecision(r.Context(), a.app, d, names)
}

// actionOf returns the id of the action of a decision, which a page ends with.
func (a actionsAPI) actionOf(r *http.Request, d safety.DecisionRecord) (string, error) {
	entries, err := a.app.Ledger.Actions(r.Context(),
		safety.Filter{AccountID: d.AccountID, MessageID: d.MessageID, Limit: 100})
	oldest := ""
	for _, e := range entries {
		if e.Action.DecisionID == d.ID {
			oldest = e.Action.ID // undos of the action are newer
		}
	}
	return oldest, err
}

// An undone is an undo that will be carried out.
type undone struct {
	ID    string `json:"id"` // of the action
	JobID string `json:"job_id"`
}

func (a actionsAPI) undoOne(r *http.Request, _ webapi.None) (v undone, err error) {
	id := r.PathValue("id")
	result, err := a.app.Undoer.As(webapi.CallerOf(r).Name).Request(r.Context(), id)
	if errors.Is(err, undo.ErrRefused) {
		err = webapi.WithStatus(http.StatusConflict, err)
	}
	return undone{id, result.ID}, err
}

// An undoFilter selects what to take back.
type undoFilter struct {
	Mailbox string `json:"mailbox,omitempty"        jsonschema:"address of the mailbox"`
	Sender  string `json:"sender,omitempty"         jsonschema:"an address or a domain"`
	Rule    string `json:"rule,omitempty"           jsonschema:"the rule that decided, by its name or id"`
	Kind    string `json:"kind,omitempty"           jsonschema:"the kind of action, such as archive"`
	Source  string `json:"source,omitempty"         jsonschema:"deterministic, llm, host or none"`
	Window  string `json:"window,omitempty"         jsonschema:"how far back from at, such as 24h or 7d"`
	Batch   string `json:"batch,omitempty"          jsonschema:"what one batch did, by its name"`
	Least   string `json:"min_confidence,omitempty" jsonschema:"the decision was at least that sure, 0 to 1"`
	Most    string `json:"max_confidence,omitempty" jsonschema:"the decision was at most that sure, 0 to 1"`
}

// ledger returns the filter of the ledger, for actions until a time.
func (q undoFilter) ledger(r *http.Request, h *app.App, at time.Time) (safety.Filter, error) {
	f, err := h.ActionFilter(r.Context(), app.ActionQuery{Mailbox: q.Mailbox, Sender: q.Sender, Rule: q.Rule, Kind: q.Kind,
		Source: q.Source, Window: q.Window, Batch: q.Batch, MinConfidence: q.Least, MaxConfidence: q.Most}, at)
	if err != nil {
		return f, err
	}
	f.AccountID = cmp.Or(webapi.CallerOf(r).AccountID, f.AccountID)
	if kind := postroom.ActionType(q.Kind); f.SelectsAll() || safety.IsUndo(kind) || safety.IsRedo(kind) {
		return f, usage.Errorf("name what to take back: a mailbox, a sender, a rule, a kind that is no undo, a source, " +
			"a window, a confidence or a batch")
	}
	f.Until = at
	return f, nil
}

type undoPreview struct {
	At     time.Time        `json:"at"`
	Digest string           `json:"digest"`
	Undone int              `json:"undone"` // how many would be taken back
	Groups []view.UndoGroup `json:"groups"`
}

func (a actionsAPI) preview(r *http.Request, in undoFilter) (v undoPreview, err error) {
	v.At = time.Now().UTC()
	f, err := in.ledger(r, a.app, v.At)
	if err != nil {
		return v, err
	}
	preview, err := view.NewUndoPreview(r.Context(), a.app, f)
	if err != nil {
		return v, err
	}
	v.Digest, v.Undone, v.Groups = preview.Digest, preview.Undone(), preview.Groups()
	return v, nil
}

type undoBody struct {
	undoFilter
	At     time.Time `json:"at"     jsonschema:"that of the preview"`
	Digest string    `json:"digest" jsonschema:"that of the preview"`
}

type undoBatch struct {
	Requested []string          `json:"requested"` // ids of actions
	Refused   map[string]string `json:"refused"`   // why, by id
}

func (a actionsAPI) undoAll(r *http.Request, in undoBody) (v undoBatch, err error) {
	if in.At.IsZero() || in.Digest == "" {
		return v, usage.Errorf("give at and digest as undo/preview has answered them")
	}
	f, err := in.ledger(r, a.app, in.At)
	if err != nil {
		return v, err
	}
	preview, err := view.NewUndoPreview(r.Context(), a.app, f)
	if err != nil {
		return v, err
	}
	if preview.Digest != in.Digest {
		return v, webapi.WithStatus(http.StatusConflict,
			errors.New("what would be taken back is not what was shown: ask for the preview again"))
	}
	batch, err := a.app.Undoer.As(webapi.CallerOf(r).Name).RequestAll(r.Context(), f, false)
	if err != nil {
		return v, err
	}
	v = undoBatch{Requested: append([]string{}, batch.Requested...), Refused: map[string]string{}}
	for id, why := range batch.Refused {
		v.Refused[id] = why.Error()
	}
	return v, nil
}
