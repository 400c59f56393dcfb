package webapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// An approvalsAPI lists and answers requests for approval.
type approvalsAPI struct{ *api }

func approvalCalls(a *api) map[string]Call {
	path, api := a.cfg.Prefix+"/approvals", approvalsAPI{a}
	return map[string]Call{
		"GET " + path:                    api.list,
		"GET " + path + "/{id}":          api.show,
		"POST " + path + "/{id}/approve": api.approve,
		"POST " + path + "/{id}/reject":  api.reject,
	}
}

// maxListed bounds the requests of one answer.
const maxListed = 100

// list lists the waiting requests, newest first. limit is 1 to maxListed; before is the id of the last action of a
// page, and selects the next.
func (a approvalsAPI) list(r *http.Request) (any, error) {
	query, caller := r.URL.Query(), CallerOf(r)
	f := safety.Filter{Limit: 20, Before: query.Get("before"), AccountID: query.Get("account_id"), Rule: query.Get("rule")}
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxListed {
			return nil, WithStatus(http.StatusBadRequest, fmt.Errorf("limit is a number from 1 to %d", maxListed))
		}
		f.Limit = n
	}
	if caller.AccountID != "" {
		f.AccountID = caller.AccountID
	}
	waiting, err := a.Ledger.Approvals(r.Context(), f)
	if err != nil {
		return nil, err
	}
	names, list := a.labelNames(r.Context()), make([]Request, len(waiting))
	for i, w := range waiting {
		list[i] = Request{NewApproval(w, nil, names), w.Approval.ID, w.Approval.Digest}
	}
	return list, nil
}

// show composes the action's content, so that the digest covers the shown content.
func (a approvalsAPI) show(r *http.Request) (any, error) {
	w, err := a.one(r)
	if err != nil {
		return nil, err
	}
	preview, err := a.Preview(r.Context(), w.Action)
	if err != nil {
		return nil, err
	}
	if w, err = a.one(r); err != nil {
		return nil, err
	}
	return Request{NewApproval(w, preview, a.labelNames(r.Context())), w.Approval.ID, w.Approval.Digest}, nil
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

func (a approvalsAPI) approve(r *http.Request) (any, error) {
	return a.decide(r, func(ctx context.Context, tx queue.Tx, shown safety.Approval, _ string) (postroom.Action, error) {
		return a.Ledger.ApproveRequest(ctx, tx, shown, CallerOf(r).Name)
	})
}

func (a approvalsAPI) reject(r *http.Request) (any, error) {
	return a.decide(r, func(ctx context.Context, tx queue.Tx, shown safety.Approval, why string) (postroom.Action, error) {
		return a.Ledger.RejectRequest(ctx, tx, shown, CallerOf(r).Name, why)
	})
}

func (a approvalsAPI) decide(r *http.Request, answer func(context.Context, queue.Tx, safety.Approval,
	string) (postroom.Action, error)) (any, error) {
	var body AnswerBody
	if err := ReadBody(r, &body); err != nil || body.RequestID == "" || body.Digest == "" {
		return nil, WithStatus(http.StatusBadRequest,
			errors.New("the body is a JSON object with request_id and digest, as the request was shown, and why if you like"))
	}
	ctx := r.Context()
	action, err := a.action(r)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(r.URL.Path, "/approve") {
		if err := a.FreezeContent(ctx, action.ID); err != nil {
			return nil, err
		}
	}
	shown := safety.Approval{ID: body.RequestID, ActionID: action.ID, Digest: body.Digest}
	err = a.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		action, err = answer(ctx, tx, shown, body.Why)
		return err
	})
	if err != nil {
		return nil, err
	}
	answered := Answer{ID: action.ID, State: action.State}
	err = a.Ledger.HeldAction(ctx, action.ID)
	if held, ok := errors.AsType[*postroom.HeldError](err); ok {
		answered.Held, err = held.Error(), nil
	}
	return answered, err
}
