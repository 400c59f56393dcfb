package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// An actionsPage lists what was done.
type actionsPage struct {
	*texts.Actions
	Filter  *filterForm
	Older   string
	Later   bool
	Windows []texts.Window
	Rules   []string
	Undo    string // the query of the preview that takes back all of these; empty if there is none
}

func (h *Handler) actions(ctx context.Context, u *url.URL) (*view, error) {
	filter, err := h.filter(ctx, u.Query(), time.Now())
	if err != nil {
		return nil, err
	}
	list, err := texts.NewActions(ctx, h.app, filter.ledger)
	if err != nil {
		return nil, err
	}
	page := &actionsPage{Actions: list, Filter: filter, Later: filter.ledger.Before != "", Windows: texts.Windows}
	if list.Next != "" {
		page.Older = filter.Older(list.Next)
	}
	if filter.undoable() {
		page.Undo = filter.Query()
	}
	rules, err := h.app.Rules.List(ctx)
	for i := range rules {
		if rules[i].ID == filter.Rule {
			filter.Rule = rules[i].Name // its id says nothing to people
		}
		of := rules[i].AccountID
		if of == "" || slices.ContainsFunc(filter.Mailboxes, func(a mailstore.Account) bool { return a.ID == of }) {
			page.Rules = append(page.Rules, rules[i].Name)
		}
	}
	return &view{name: "actions", title: "Actions", live: true, data: page}, err
}

// undoable reports whether all that the filter selects may be taken back at once: it must select by more than the
// state.
func (f *filterForm) undoable() bool {
	of := f.ledger
	of.States = nil
	return !of.SelectsAll() && (f.State == "" || f.State == string(postroom.ActionCompleted)) &&
		!safety.IsUndo(postroom.ActionType(f.Kind)) && !safety.IsRedo(postroom.ActionType(f.Kind))
}

func (h *Handler) action(ctx context.Context, r *http.Request) (*view, error) {
	v, err := texts.NewWholeAction(ctx, h.app, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return &view{name: "action", title: v.Did, data: v}, nil
}

// undoOne takes an action back, or does it again, if it is an undo.
func (h *Handler) undoOne(w http.ResponseWriter, r *http.Request) {
	_, err := h.app.Undoer.As(by(r)).Request(r.Context(), r.PathValue("id"))
	if errors.Is(err, undo.ErrRefused) {
		err = usage.Wrap(err)
	}
	h.done(w, r, "undo", err)
}

// An undoPage is what taking back all of a filter would do.
type undoPage struct {
	*texts.UndoPreview
	Filter *filterForm
	At     string // the actions are those until then
}

func (h *Handler) undoPreview(ctx context.Context, u *url.URL) (*view, error) {
	at := time.Now().UTC()
	filter, preview, err := h.planUndo(ctx, u.Query(), at)
	if err != nil {
		return nil, err
	}
	return &view{name: "undo", title: "Take back", data: &undoPage{preview, filter, at.Format(time.RFC3339Nano)}}, nil
}

// planUndo plans the undo of all of a filter until a time.
func (h *Handler) planUndo(ctx context.Context, query url.Values, at time.Time) (*filterForm, *texts.UndoPreview,
	error) {
	filter, err := h.filter(ctx, query, at)
	if err != nil {
		return nil, nil, err
	}
	if !filter.undoable() {
		return nil, nil, usage.Errorf("Choose what to take back: a mailbox, a window, a sender, a kind, a rule or a source.")
	}
	filter.ledger.States, filter.ledger.Before, filter.ledger.Until = nil, "", at
	preview, err := texts.NewUndoPreview(ctx, h.app, filter.ledger)
	return filter, preview, err
}

// undoAll takes back what the preview has shown, if it still is that.
func (h *Handler) undoAll(w http.ResponseWriter, r *http.Request) {
	at, err := time.Parse(time.RFC3339Nano, r.PostFormValue("at"))
	if err != nil {
		h.failed(w, r, usage.Errorf("The form is not one of this page: go back, and reload it."))
		return
	}
	filter, preview, err := h.planUndo(r.Context(), r.PostForm, at)
	if err == nil && preview.Digest != r.PostFormValue("digest") {
		err = usage.Errorf("What would be taken back is not what was shown: go back, reload the page, and look again.")
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	batch, err := h.app.Undoer.As(by(r)).RequestAll(r.Context(), filter.ledger, false)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	back(w, r, "undo-all", len(batch.Requested))
}
