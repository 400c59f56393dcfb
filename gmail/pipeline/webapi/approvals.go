package webapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// An approvalsAPI lists and answers requests for approval.
type approvalsAPI struct{ *api }

func approvalRoutes(a *api) []Route {
	api := approvalsAPI{a}
	return []Route{
		Handle(Route{Method: http.MethodGet, Path: "/approvals", Scope: See, Account: ByQuery,
			Summary: "List the requests for approval that wait, newest first"}, api.list),
		Handle(Route{Method: http.MethodGet, Path: "/approvals/{id}", Scope: See, Account: api.accountOf,
			Summary: "Show a request with the message that would be sent"}, api.show),
		Handle(Route{Method: http.MethodPost, Path: "/approvals/{id}/approve", Scope: Approve, Account: api.accountOf,
			Needs: needsShown, Summary: "Approve the request that was shown"}, api.approve),
		Handle(Route{Method: http.MethodPost, Path: "/approvals/{id}/reject", Scope: Approve, Account: api.accountOf,
			Needs: needsShown, Summary: "Reject the request that was shown"}, api.reject),
	}
}

const needsShown = "it needs request_id and digest, as the request was shown, and may have why"

// maxListed bounds the requests of one answer.
const maxListed = 100

// A RequestFilter selects waiting requests.
type RequestFilter struct {
	Limit     int    `jsonschema:"1 to 100, default 20"                                   query:"limit"`
	Before    string `jsonschema:"id of the last action of a page: lists those before it" query:"before"`
	AccountID string `jsonschema:"only of this account"                                   query:"account_id"`
	Rule      string `jsonschema:"only what this rule has decided, by its name or id"     query:"rule"`
}

// Ledger returns the filter of the ledger for the caller of a request.
func (f RequestFilter) Ledger(r *http.Request) (safety.Filter, error) {
	if r.URL.Query().Has("limit") && (f.Limit < 1 || f.Limit > maxListed) {
		return safety.Filter{}, WithStatus(http.StatusBadRequest, fmt.Errorf("limit is a number from 1 to %d", maxListed))
	}
	return safety.Filter{Limit: cmp.Or(f.Limit, 20), Before: f.Before, Rule: f.Rule,
		AccountID: cmp.Or(CallerOf(r).AccountID, f.AccountID)}, nil
}

// list lists the waiting requests, newest first.
func (a approvalsAPI) list(r *http.Request, in RequestFilter) ([]Request, error) {
	f, err := in.Ledger(r)
	if err != nil {
		return nil, err
	}
	waiting, err := a.Ledger.Approvals(r.Context(), f)
	if err != nil {
		return nil, err
	}
	names, list := a.labelNames(r.Context()), make([]Request, len(waiting))
	for i, w := range waiting {
		list[i] = NewRequest(w, nil, names)
	}
	return list, nil
}

// show composes the action's content, so that the digest covers the shown content.
func (a approvalsAPI) show(r *http.Request, _ None) (shown Request, err error) {
	w, err := a.one(r)
	if err != nil {
		return shown, err
	}
	preview, err := a.Preview(r.Context(), w.Action)
	if err != nil {
		return shown, err
	}
	if w, err = a.one(r); err != nil {
		return shown, err
	}
	if preview != nil && preview.SHA256 != w.Action.ContentSHA256 {
		return shown, WithStatus(http.StatusConflict, fmt.Errorf("action %s: %w", w.Action.ID, safety.ErrEdited))
	}
	return NewRequest(w, preview, a.labelNames(r.Context())), nil
}

// one returns the request about the action of the path, whose full id is required.
func (a approvalsAPI) one(r *http.Request) (safety.Waiting, error) {
	action, err := a.action(r)
	if err != nil {
		return safety.Waiting{}, err
	}
	w, err := a.Ledger.Waiting(r.Context(), action.ID)
	if state, ok := errors.AsType[*safety.StateError](err); ok {
		err = WithStatus(http.StatusConflict,
			fmt.Errorf("action %s is %s, and does not wait for approval", action.ID, state.State))
	}
	return w, err
}

// action returns the action of the path. One of another account does not exist for the caller.
func (a approvalsAPI) action(r *http.Request) (postroom.Action, error) {
	action, err := a.Ledger.Action(r.Context(), r.PathValue("id"))
	if err == nil && !CallerOf(r).sees(action.AccountID) {
		err = fmt.Errorf("action %s: %w", r.PathValue("id"), postroom.ErrNotFound)
	}
	return action, err
}

// An AnswerBody names the request that was shown.
type AnswerBody struct {
	RequestID string `json:"request_id"`
	Digest    string `json:"digest"`
	Why       string `json:"why"` // of a rejection; may be empty
}

func (a approvalsAPI) approve(r *http.Request, body AnswerBody) (Answer, error) {
	return a.decide(r, body, true, func(ctx context.Context, tx queue.Tx, shown safety.Approval, _ string) (
		postroom.Action, error,
	) {
		return a.Ledger.ApproveRequest(ctx, tx, shown, CallerOf(r).Name)
	})
}

func (a approvalsAPI) reject(r *http.Request, body AnswerBody) (Answer, error) {
	return a.decide(r, body, false, func(ctx context.Context, tx queue.Tx, shown safety.Approval, why string) (
		postroom.Action, error,
	) {
		return a.Ledger.RejectRequest(ctx, tx, shown, CallerOf(r).Name, why)
	})
}

func (a approvalsAPI) decide(r *http.Request, body AnswerBody, approves bool, answer func(context.Context, queue.Tx,
	safety.Approval, string) (postroom.Action, error)) (answered Answer, err error) {
	if body.RequestID == "" || body.Digest == "" {
		return answered, WithStatus(http.StatusBadRequest, errors.New(needsShown))
	}
	ctx := r.Context()
	action, err := a.action(r)
	if err != nil {
		return answered, err
	}
	if approves {
		if err := a.FreezeContent(ctx, action.ID); err != nil {
			return answered, err
		}
	}
	shown := safety.Approval{ID: body.RequestID, ActionID: action.ID, Digest: body.Digest}
	err = a.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		action, err = answer(ctx, tx, shown, body.Why)
		return err
	})
	if err != nil {
		return answered, err
	}
	answered = Answer{ID: action.ID, State: action.State}
	err = a.Ledger.HeldAction(ctx, action.ID)
	if held, ok := errors.AsType[*postroom.HeldError](err); ok {
		answered.Held, err = held.Error(), nil
	}
	return answered, err
}

// accountOf returns the account of the action of the path.
func (a approvalsAPI) accountOf(r *http.Request) (string, error) {
	action, err := a.Ledger.Action(r.Context(), r.PathValue("id"))
	return action.AccountID, err
}
