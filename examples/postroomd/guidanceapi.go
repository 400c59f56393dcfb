package main

import (
	"context"
	"net/http"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
)

// A directionsAPI lists and changes the directions to the model about all mail, or that of a mailbox.
type directionsAPI struct{ httpAPI }

func (a directionsAPI) calls() map[string]call {
	return apiKind{a.list, a.create, a.show, a.patch, a.remove, a.swap}.calls("directions")
}

type directionView struct {
	ID        string    `json:"id"`
	AccountID string    `json:"account_id"` // empty: all accounts
	Text      string    `json:"text"`
	Enabled   bool      `json:"enabled"`
	Priority  int       `json:"priority"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Revision  int64     `json:"revision"`
	// Unchecked describes to what extent decisions are not checked against the direction; it is set for directions that forbid
	// something.
	Unchecked string `json:"unchecked,omitempty"`
}

func viewDirection(d guidance.Direction) directionView {
	return directionView{d.ID, d.AccountID, d.Text, d.Enabled, d.Priority, d.CreatedAt, d.UpdatedAt, d.Revision, d.Unchecked()}
}

func (a directionsAPI) list(r *http.Request) (any, error) {
	list, err := a.app.guide.Directions(r.Context())
	return printer.List(list, viewDirection), err
}

func (a directionsAPI) show(r *http.Request) (any, error) {
	d, err := a.app.guide.Direction(r.Context(), r.PathValue("id"))
	return viewDirection(d), err
}

func (a directionsAPI) create(r *http.Request) (any, error) {
	view := directionView{Enabled: true, Priority: guidance.DefaultPriority}
	if err := readBody(r, &view); err != nil {
		return nil, err
	}
	if err := madeHere(view.ID, view.CreatedAt, view.UpdatedAt, view.Revision); err != nil {
		return nil, err
	}
	if err := a.app.knowsAccounts(r.Context(), view.AccountID); err != nil {
		return nil, err
	}
	return changedBy(r, a.app, viewDirection, func(ctx context.Context, tx queue.Tx) (guidance.Direction, error) {
		return a.app.guide.CreateDirection(ctx, tx, guidance.Direction{AccountID: view.AccountID, Text: view.Text, Enabled: view.Enabled, Priority: view.Priority})
	})
}

func (a directionsAPI) patch(r *http.Request) (any, error) {
	var p guidance.DirectionPatch
	if err := readBody(r, &p); err != nil {
		return nil, err
	}
	if p.AccountID != nil {
		if err := a.app.knowsAccounts(r.Context(), *p.AccountID); err != nil {
			return nil, err
		}
	}
	return changedBy(r, a.app, viewDirection, func(ctx context.Context, tx queue.Tx) (guidance.Direction, error) {
		return a.app.guide.PatchDirection(ctx, tx, r.PathValue("id"), p)
	})
}

func (a directionsAPI) remove(r *http.Request) (any, error) {
	return removedBy(r, a.app, a.app.guide.DeleteDirection)
}

func (a directionsAPI) swap(r *http.Request) (any, error) {
	if err := swappedBy(r, a.app, a.app.guide.SwapDirections); err != nil {
		return nil, err
	}
	return a.show(r)
}

// A modelRulesAPI lists and changes the named instructions for some mail.
type modelRulesAPI struct{ httpAPI }

func (a modelRulesAPI) calls() map[string]call {
	return apiKind{a.list, a.create, a.show, a.patch, a.remove, a.swap}.calls("llm-rules")
}

type modelRuleView struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Scope       guidance.Scope `json:"scope"`
	ScopeRef    string         `json:"scope_ref"`
	Text        string         `json:"text"`
	Enabled     bool           `json:"enabled"`
	Priority    int            `json:"priority"`
	CreatedAt   time.Time      `json:"created_at"`
	UpdatedAt   time.Time      `json:"updated_at"`
	Revision    int64          `json:"revision"`
	Unchecked   string         `json:"unchecked,omitempty"` // as that of a direction
}

func viewModelRule(r guidance.ScopedRule) modelRuleView {
	return modelRuleView{
		r.ID, r.Name, r.Description, r.Scope, r.ScopeRef, r.Text, r.Enabled, r.Priority, r.CreatedAt, r.UpdatedAt, r.Revision, r.Unchecked(),
	}
}

func (a modelRulesAPI) list(r *http.Request) (any, error) {
	list, err := a.app.guide.Rules(r.Context())
	return printer.List(list, viewModelRule), err
}

func (a modelRulesAPI) show(r *http.Request) (any, error) {
	rule, err := a.app.guide.Rule(r.Context(), r.PathValue("id"))
	return viewModelRule(rule), err
}

func (a modelRulesAPI) create(r *http.Request) (any, error) {
	view := modelRuleView{Enabled: true, Priority: guidance.DefaultPriority}
	if err := readBody(r, &view); err != nil {
		return nil, err
	}
	if err := madeHere(view.ID, view.CreatedAt, view.UpdatedAt, view.Revision); err != nil {
		return nil, err
	}
	if err := a.app.knowsAccounts(r.Context(), accountRef(view.Scope == guidance.ScopeAccount, view.ScopeRef)); err != nil {
		return nil, err
	}
	return changedBy(r, a.app, viewModelRule, func(ctx context.Context, tx queue.Tx) (guidance.ScopedRule, error) {
		return a.app.guide.CreateRule(ctx, tx, guidance.ScopedRule{
			Name: view.Name, Description: view.Description, Scope: view.Scope, ScopeRef: view.ScopeRef, Text: view.Text,
			Enabled: view.Enabled, Priority: view.Priority,
		})
	})
}

func (a modelRulesAPI) patch(r *http.Request) (any, error) {
	var p guidance.ScopedRulePatch
	if err := readBody(r, &p); err != nil {
		return nil, err
	}
	return changedBy(r, a.app, viewModelRule, func(ctx context.Context, tx queue.Tx) (guidance.ScopedRule, error) {
		return a.app.guide.PatchRule(ctx, tx, r.PathValue("id"), p)
	})
}

func (a modelRulesAPI) remove(r *http.Request) (any, error) {
	return removedBy(r, a.app, a.app.guide.DeleteRule)
}

func (a modelRulesAPI) swap(r *http.Request) (any, error) {
	if err := swappedBy(r, a.app, a.app.guide.SwapRules); err != nil {
		return nil, err
	}
	return a.show(r)
}

// changedBy makes a change in a transaction, and returns the result.
func changedBy[T, V any](r *http.Request, h *host, view func(T) V, change func(context.Context, queue.Tx) (T, error)) (any, error) {
	var changed T
	err := h.db.Write(r.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		changed, err = change(ctx, tx)
		return err
	})
	return view(changed), err
}

func removedBy(r *http.Request, h *host, remove func(context.Context, queue.Tx, string) error) (any, error) {
	id := r.PathValue("id")
	return goneView{id}, h.db.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error { return remove(ctx, tx, id) })
}

func swappedBy(r *http.Request, h *host, swap func(ctx context.Context, tx queue.Tx, id, otherID string) error) error {
	var body swapBody
	if err := readBody(r, &body); err != nil {
		return err
	}
	return h.db.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error { return swap(ctx, tx, r.PathValue("id"), body.With) })
}
