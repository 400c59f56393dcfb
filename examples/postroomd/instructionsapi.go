package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
)

// An instructionsAPI lists and changes the instructions to the model.
type instructionsAPI struct{ httpAPI }

func (a instructionsAPI) calls() map[string]call {
	calls := apiKind{a.list, a.create, a.show, a.patch, a.remove, a.swap}.calls("instructions")
	for _, before := range []string{"directions", "llm-rules"} {
		moved := func(*http.Request) (any, error) {
			return nil, apiError{http.StatusGone, errors.New(before + " are instructions now: call " + apiPrefix + "instructions")}
		}
		calls[apiPrefix+before], calls[apiPrefix+before+"/"] = moved, moved
	}
	return calls
}

func (a instructionsAPI) list(r *http.Request) (any, error) {
	return viewInstructions(r.Context(), a.app)
}

func (a instructionsAPI) show(r *http.Request) (any, error) {
	i, err := a.app.guide.Instruction(r.Context(), r.PathValue("id"))
	return a.view(r, i, err)
}

func (a instructionsAPI) view(r *http.Request, i guidance.Instruction, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	views, err := withMailboxes(r.Context(), a.app, []guidance.Instruction{i})
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

func (a instructionsAPI) create(r *http.Request) (any, error) {
	view := instructionView{Enabled: true, Priority: guidance.DefaultPriority}
	if err := readBody(r, &view); err != nil {
		return nil, err
	}
	if err := madeHere(view.ID, view.CreatedAt, view.UpdatedAt, view.Revision); err != nil {
		return nil, err
	}
	if err := a.app.knowsAccounts(r.Context(), accountRef(view.Scope == guidance.ScopeMailbox, view.ScopeRef)); err != nil {
		return nil, err
	}
	return a.changed(r, func(ctx context.Context, tx queue.Tx) (guidance.Instruction, error) {
		return a.app.guide.Create(ctx, tx, guidance.Instruction{
			Name: view.Name, Scope: view.Scope, ScopeRef: view.ScopeRef, Text: view.Text, Forbids: view.Forbids, Enabled: view.Enabled, Priority: view.Priority,
		})
	})
}

func (a instructionsAPI) patch(r *http.Request) (any, error) {
	var p guidance.Patch
	if err := readBody(r, &p); err != nil {
		return nil, err
	}
	return a.changed(r, func(ctx context.Context, tx queue.Tx) (guidance.Instruction, error) {
		changed, err := a.app.guide.Patch(ctx, tx, r.PathValue("id"), p)
		if err != nil {
			return changed, err
		}
		return changed, a.app.knowsAccounts(ctx, accountRef(p.ScopeRef != nil && changed.Scope == guidance.ScopeMailbox, changed.ScopeRef))
	})
}

func (a instructionsAPI) remove(r *http.Request) (any, error) {
	id := r.PathValue("id")
	return goneView{id}, a.app.db.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error { return a.app.guide.Delete(ctx, tx, id) })
}

func (a instructionsAPI) swap(r *http.Request) (any, error) {
	var body swapBody
	if err := readBody(r, &body); err != nil {
		return nil, err
	}
	err := a.app.db.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error {
		return a.app.guide.Swap(ctx, tx, r.PathValue("id"), body.With)
	})
	if err != nil {
		return nil, err
	}
	return a.show(r)
}

// changed makes a change in a transaction, and returns the result.
func (a instructionsAPI) changed(r *http.Request, change func(context.Context, queue.Tx) (guidance.Instruction, error)) (any, error) {
	var changed guidance.Instruction
	err := a.app.db.Write(r.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		changed, err = change(ctx, tx)
		return err
	})
	return a.view(r, changed, err)
}
