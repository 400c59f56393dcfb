package httpapi

import (
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

func (a instructionsAPI) calls() map[string]webapi.Call {
	calls := webapi.Objects{
		List: a.list, Create: a.create, Show: a.show, Patch: a.patch, Remove: a.remove, Swap: a.swap,
	}.Calls(apiPrefix + "/instructions")
	for _, before := range []string{"directions", "llm-rules"} {
		moved := func(*http.Request) (any, error) {
			return nil, webapi.WithStatus(http.StatusGone, errors.New(before+" are instructions now: call "+apiPrefix+
				"/instructions"))
		}
		calls[apiPrefix+"/"+before], calls[apiPrefix+"/"+before+"/"] = moved, moved
	}
	return calls
}

func (a instructionsAPI) list(r *http.Request) (any, error) {
	return view.NewInstructions(r.Context(), a.app)
}

func (a instructionsAPI) show(r *http.Request) (any, error) {
	i, err := a.app.Models.Guidance.Instruction(r.Context(), r.PathValue("id"))
	return a.view(r, i, err)
}

func (a instructionsAPI) view(r *http.Request, i guidance.Instruction, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	views, err := view.InstructionsWithMailboxes(r.Context(), a.app, []guidance.Instruction{i})
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

func (a instructionsAPI) create(r *http.Request) (any, error) {
	body := view.Instruction{Enabled: true, Priority: guidance.DefaultPriority}
	if err := webapi.ReadBody(r, &body); err != nil {
		return nil, err
	}
	if err := webapi.MadeHere(body.ID, body.CreatedAt, body.UpdatedAt, body.Revision); err != nil {
		return nil, err
	}
	if err := webapi.KnowsAccounts(r.Context(), a.app.Mail, accountRef(body.Scope == guidance.ScopeMailbox,
		body.ScopeRef)); err != nil {
		return nil, err
	}
	return a.changed(r, func(ctx context.Context, tx queue.Tx) (guidance.Instruction, error) {
		return a.app.Models.Guidance.Create(ctx, tx, guidance.Instruction{
			Name: body.Name, Scope: body.Scope, ScopeRef: body.ScopeRef, Text: body.Text, Forbids: body.Forbids,
			Enabled: body.Enabled, Priority: body.Priority,
		})
	})
}

func (a instructionsAPI) patch(r *http.Request) (any, error) {
	var p guidance.Patch
	if err := webapi.ReadBody(r, &p); err != nil {
		return nil, err
	}
	return a.changed(r, func(ctx context.Context, tx queue.Tx) (guidance.Instruction, error) {
		changed, err := a.app.Models.Guidance.Patch(ctx, tx, r.PathValue("id"), p)
		if err != nil {
			return changed, err
		}
		of := accountRef(p.ScopeRef != nil && changed.Scope == guidance.ScopeMailbox, changed.ScopeRef)
		return changed, webapi.KnowsAccounts(ctx, a.app.Mail, of)
	})
}

func (a instructionsAPI) remove(r *http.Request) (any, error) {
	id := r.PathValue("id")
	return webapi.Removed{ID: id}, a.app.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error {
		return a.app.Models.Guidance.Delete(ctx, tx, id)
	})
}

func (a instructionsAPI) swap(r *http.Request) (any, error) {
	var body webapi.SwapBody
	if err := webapi.ReadBody(r, &body); err != nil {
		return nil, err
	}
	err := a.app.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error {
		return a.app.Models.Guidance.Swap(ctx, tx, r.PathValue("id"), body.With)
	})
	if err != nil {
		return nil, err
	}
	return a.show(r)
}

// changed makes a change in a transaction, and returns the result.
func (a instructionsAPI) changed(r *http.Request, change func(context.Context, queue.Tx) (guidance.Instruction,
	error)) (any, error) {
	var changed guidance.Instruction
	err := a.app.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		changed, err = change(ctx, tx)
		return err
	})
	return a.view(r, changed, err)
}

// accountRef is the reference of a scope, if it is one to an account.
func accountRef(isAccount bool, ref string) string {
	if isAccount {
		return ref
	}
	return ""
}
