package httpapi

import (
	"context"
	"github.com/postroom-go/postroom/llm/guidance"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/queue"
)

// A directionsAPI lists and changes the directions to the model about all mail, or that of a mailbox.
type directionsAPI struct{ httpAPI }

func (a directionsAPI) calls() map[string]call {
	return apiKind{a.list, a.create, a.show, a.patch, a.remove, a.swap}.calls("directions")
}

func (a directionsAPI) list(r *http.Request) (any, error) {
	list, err := a.app.Models.Guidance.Directions(r.Context())
	return printer.List(list, view.NewDirection), err
}

func (a directionsAPI) show(r *http.Request) (any, error) {
	d, err := a.app.Models.Guidance.Direction(r.Context(), r.PathValue("id"))
	return view.NewDirection(d), err
}

func (a directionsAPI) create(r *http.Request) (any, error) {
	body := view.Direction{Enabled: true, Priority: guidance.DefaultPriority}
	if err := readBody(r, &body); err != nil {
		return nil, err
	}
	if err := madeHere(body.ID, body.CreatedAt, body.UpdatedAt, body.Revision); err != nil {
		return nil, err
	}
	if err := knowsAccounts(r.Context(), a.app, body.AccountID); err != nil {
		return nil, err
	}
	return changedBy(r, a.app, view.NewDirection, func(ctx context.Context, tx queue.Tx) (guidance.Direction, error) {
		return a.app.Models.Guidance.CreateDirection(ctx, tx, guidance.Direction{AccountID: body.AccountID, Text: body.Text, Enabled: body.Enabled, Priority: body.Priority})
	})
}

func (a directionsAPI) patch(r *http.Request) (any, error) {
	var p guidance.DirectionPatch
	if err := readBody(r, &p); err != nil {
		return nil, err
	}
	if p.AccountID != nil {
		if err := knowsAccounts(r.Context(), a.app, *p.AccountID); err != nil {
			return nil, err
		}
	}
	return changedBy(r, a.app, view.NewDirection, func(ctx context.Context, tx queue.Tx) (guidance.Direction, error) {
		return a.app.Models.Guidance.PatchDirection(ctx, tx, r.PathValue("id"), p)
	})
}

func (a directionsAPI) remove(r *http.Request) (any, error) {
	return removedBy(r, a.app, a.app.Models.Guidance.DeleteDirection)
}

func (a directionsAPI) swap(r *http.Request) (any, error) {
	if err := swappedBy(r, a.app, a.app.Models.Guidance.SwapDirections); err != nil {
		return nil, err
	}
	return a.show(r)
}

// A modelRulesAPI lists and changes the named instructions for some mail.
type modelRulesAPI struct{ httpAPI }

func (a modelRulesAPI) calls() map[string]call {
	return apiKind{a.list, a.create, a.show, a.patch, a.remove, a.swap}.calls("llm-rules")
}

func (a modelRulesAPI) list(r *http.Request) (any, error) {
	list, err := a.app.Models.Guidance.Rules(r.Context())
	return printer.List(list, view.NewModelRule), err
}

func (a modelRulesAPI) show(r *http.Request) (any, error) {
	rule, err := a.app.Models.Guidance.Rule(r.Context(), r.PathValue("id"))
	return view.NewModelRule(rule), err
}

func (a modelRulesAPI) create(r *http.Request) (any, error) {
	body := view.ModelRule{Enabled: true, Priority: guidance.DefaultPriority}
	if err := readBody(r, &body); err != nil {
		return nil, err
	}
	if err := madeHere(body.ID, body.CreatedAt, body.UpdatedAt, body.Revision); err != nil {
		return nil, err
	}
	if err := knowsAccounts(r.Context(), a.app, accountRef(body.Scope == guidance.ScopeAccount, body.ScopeRef)); err != nil {
		return nil, err
	}
	return changedBy(r, a.app, view.NewModelRule, func(ctx context.Context, tx queue.Tx) (guidance.ScopedRule, error) {
		return a.app.Models.Guidance.CreateRule(ctx, tx, guidance.ScopedRule{
			Name: body.Name, Description: body.Description, Scope: body.Scope, ScopeRef: body.ScopeRef, Text: body.Text,
			Enabled: body.Enabled, Priority: body.Priority,
		})
	})
}

func (a modelRulesAPI) patch(r *http.Request) (any, error) {
	var p guidance.ScopedRulePatch
	if err := readBody(r, &p); err != nil {
		return nil, err
	}
	return changedBy(r, a.app, view.NewModelRule, func(ctx context.Context, tx queue.Tx) (guidance.ScopedRule, error) {
		return a.app.Models.Guidance.PatchRule(ctx, tx, r.PathValue("id"), p)
	})
}

func (a modelRulesAPI) remove(r *http.Request) (any, error) {
	return removedBy(r, a.app, a.app.Models.Guidance.DeleteRule)
}

func (a modelRulesAPI) swap(r *http.Request) (any, error) {
	if err := swappedBy(r, a.app, a.app.Models.Guidance.SwapRules); err != nil {
		return nil, err
	}
	return a.show(r)
}

// changedBy makes a change in a transaction, and returns the result.
func changedBy[T, V any](r *http.Request, h *app.App, show func(T) V, change func(context.Context, queue.Tx) (T, error)) (any, error) {
	var changed T
	err := h.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		changed, err = change(ctx, tx)
		return err
	})
	return show(changed), err
}

func removedBy(r *http.Request, h *app.App, remove func(context.Context, queue.Tx, string) error) (any, error) {
	id := r.PathValue("id")
	return goneView{id}, h.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error { return remove(ctx, tx, id) })
}

func swappedBy(r *http.Request, h *app.App, swap func(ctx context.Context, tx queue.Tx, id, otherID string) error) error {
	var body swapBody
	if err := readBody(r, &body); err != nil {
		return err
	}
	return h.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error { return swap(ctx, tx, r.PathValue("id"), body.With) })
}
