package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
)

// An instructionsAPI lists and changes the instructions to the model.
type instructionsAPI struct{ app *app.App }

func (a instructionsAPI) routes() []webapi.Route {
	const path = "/instructions"
	routes := []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: path, Scope: webapi.See,
			Summary: "List the instructions to the model, in the order in which it reads them"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: path, Scope: webapi.Own,
			Summary: "Create an instruction"}, a.create),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: path + "/{id}", Scope: webapi.See, Account: a.accountOf,
			Summary: "Show an instruction"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPatch, Path: path + "/{id}", Scope: webapi.Own,
			Summary: "Change the fields of an instruction that the body has"}, a.patch),
		webapi.Handle(webapi.Route{Method: http.MethodDelete, Path: path + "/{id}", Scope: webapi.Own,
			Summary: "Delete an instruction"}, a.remove),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: path + "/{id}/swap", Scope: webapi.Own,
			Summary: "Exchange the priorities of two instructions"}, a.swap),
	}
	for _, before := range []string{"/directions", "/llm-rules"} {
		gone := func(*http.Request, webapi.None) (none webapi.None, err error) {
			return none, webapi.WithStatus(http.StatusGone,
				errors.New(before[1:]+" are instructions now: call "+prefix+path))
		}
		routes = append(routes, webapi.Handle(webapi.Route{Path: before}, gone),
			webapi.Handle(webapi.Route{Path: before + "/"}, gone))
	}
	return routes
}

func (a instructionsAPI) list(r *http.Request, _ webapi.None) ([]view.Instruction, error) {
	return view.NewInstructions(r.Context(), a.app)
}

func (a instructionsAPI) show(r *http.Request, _ webapi.None) (view.Instruction, error) {
	i, err := a.app.Models.Guidance.Instruction(r.Context(), r.PathValue("id"))
	return a.view(r, i, err)
}

func (a instructionsAPI) view(r *http.Request, i guidance.Instruction, err error) (view.Instruction, error) {
	if err != nil {
		return view.Instruction{}, err
	}
	views, err := view.InstructionsWithMailboxes(r.Context(), a.app, []guidance.Instruction{i})
	if err != nil {
		return view.Instruction{}, err
	}
	return views[0], nil
}

// A newInstruction is the body that creates an instruction: an omitted field has its default.
type newInstruction struct{ view.Instruction }

// SetDefaults sets what a body may omit.
func (b *newInstruction) SetDefaults(*http.Request) {
	b.Enabled, b.Priority = true, guidance.DefaultPriority
}

func (a instructionsAPI) create(r *http.Request, body newInstruction) (none view.Instruction, err error) {
	if err := webapi.MadeHere(body.ID, body.CreatedAt, body.UpdatedAt, body.Revision); err != nil {
		return none, err
	}
	return a.changed(r, func(ctx context.Context, tx queue.Tx) (guidance.Instruction, error) {
		err := webapi.KnowsAccounts(ctx, tx, a.app.Mail, accountRef(body.Scope, body.ScopeRef))
		if err != nil {
			return guidance.Instruction{}, err
		}
		return a.app.InstructedBy(webapi.CallerOf(r).Name).Create(ctx, tx, guidance.Instruction{
			Name: body.Name, Scope: body.Scope, ScopeRef: body.ScopeRef, Text: body.Text, Forbids: body.Forbids,
			Unauthenticated: body.Unauthenticated,
			Enabled:         body.Enabled, Priority: body.Priority,
		})
	})
}

func (a instructionsAPI) patch(r *http.Request, p guidance.Patch) (none view.Instruction, err error) {
	if p.Revision, err = webapi.IfMatch(r, p.Revision); err != nil {
		return none, err
	}
	return a.changed(r, func(ctx context.Context, tx queue.Tx) (guidance.Instruction, error) {
		changed, err := a.app.InstructedBy(webapi.CallerOf(r).Name).Patch(ctx, tx, r.PathValue("id"), p)
		if err != nil || p.ScopeRef == nil {
			return changed, err
		}
		return changed, webapi.KnowsAccounts(ctx, tx, a.app.Mail, accountRef(changed.Scope, changed.ScopeRef))
	})
}

func (a instructionsAPI) remove(r *http.Request, _ webapi.None) (webapi.Removed, error) {
	id := r.PathValue("id")
	return webapi.Removed{ID: id}, a.write(r, func(ctx context.Context, tx queue.Tx) error {
		return a.app.InstructedBy(webapi.CallerOf(r).Name).Delete(ctx, tx, id)
	})
}

func (a instructionsAPI) swap(r *http.Request, body webapi.SwapBody) (view.Instruction, error) {
	err := a.write(r, func(ctx context.Context, tx queue.Tx) error {
		return a.app.InstructedBy(webapi.CallerOf(r).Name).Swap(ctx, tx, r.PathValue("id"), body.With)
	})
	if err != nil {
		return view.Instruction{}, err
	}
	return a.show(r, webapi.None{})
}

// write changes the instruction of the path, if it is at the revision that If-Match names.
func (a instructionsAPI) write(r *http.Request, change func(context.Context, queue.Tx) error) error {
	revision, err := webapi.IfMatch(r, 0)
	if err != nil {
		return err
	}
	err = a.app.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error {
		if revision != 0 { // an empty patch compares the revision, and holds the row
			_, err := a.app.Models.Guidance.Patch(ctx, tx, r.PathValue("id"), guidance.Patch{Revision: revision})
			if err != nil {
				return err
			}
		}
		return change(ctx, tx)
	})
	return preconditionOf(r, err)
}

// changed makes a change in a transaction, and returns the result.
func (a instructionsAPI) changed(r *http.Request, change func(context.Context, queue.Tx) (guidance.Instruction,
	error)) (view.Instruction, error) {
	var changed guidance.Instruction
	err := a.app.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		changed, err = change(ctx, tx)
		return err
	})
	return a.view(r, changed, preconditionOf(r, err))
}

// preconditionOf gives the error that something has changed the status that belongs to If-Match.
func preconditionOf(r *http.Request, err error) error {
	if errors.Is(err, guidance.ErrChanged) && r.Header.Get("If-Match") != "" {
		return webapi.WithStatus(http.StatusPreconditionFailed, err)
	}
	return err
}

// accountOf returns the account of the instruction of the path.
func (a instructionsAPI) accountOf(r *http.Request) (string, error) {
	i, err := a.app.Models.Guidance.Instruction(r.Context(), r.PathValue("id"))
	return cmp.Or(accountRef(i.Scope, i.ScopeRef), webapi.AllAccounts), err
}

// accountRef is the reference of a scope, if it is one to an account.
func accountRef(scope guidance.Scope, ref string) string {
	if scope == guidance.ScopeMailbox {
		return ref
	}
	return ""
}
