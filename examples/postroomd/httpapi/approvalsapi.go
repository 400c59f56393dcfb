package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// An approvalsAPI lists and answers requests for approval.
type approvalsAPI struct{ httpAPI }

func (a approvalsAPI) calls() map[string]call {
	const path = apiPrefix + "approvals"
	return map[string]call{
		"GET " + path:                    a.list,
		"GET " + path + "/{id}":          a.show,
		"POST " + path + "/{id}/approve": a.approve,
		"POST " + path + "/{id}/reject":  a.reject,
	}
}

// list lists the waiting requests, newest first. limit is 1 to mostListed; before is the id of the last action of a page, and
// selects the next.
func (a approvalsAPI) list(r *http.Request) (any, error) {
	query := r.URL.Query()
	f := safety.Filter{Limit: 20, Before: query.Get("before"), AccountID: query.Get("account_id"), Rule: query.Get("rule")}
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > app.MaxListed {
			return nil, apiError{http.StatusBadRequest, fmt.Errorf("limit is a number from 1 to %d", app.MaxListed)}
		}
		f.Limit = n
	}
	waiting, err := a.app.Ledger.Approvals(r.Context(), f)
	if err != nil {
		return nil, err
	}
	names, err := a.app.LabelNames(r.Context())
	return printer.List(waiting, func(w safety.Waiting) view.Request {
		return view.Request{ShownApproval: view.ShownApproval{Approval: view.NewApproval(w, names, view.IsAltered(w))}, RequestID: w.Approval.ID, Digest: w.Approval.Digest}
	}), err
}

// show composes the action's content, so that the digest covers the shown content.
func (a approvalsAPI) show(r *http.Request) (any, error) {
	w, err := a.one(r)
	if err != nil {
		return nil, err
	}
	message, sends, err := a.app.Preview(r.Context(), w.Action)
	if err != nil {
		return nil, err
	}
	if w, err = a.one(r); err != nil {
		return nil, err
	}
	names, err := a.app.LabelNames(r.Context())
	return view.Request{ShownApproval: view.NewShownApproval(w, message, sends, names, view.IsAltered(w)), RequestID: w.Approval.ID, Digest: w.Approval.Digest}, err
}

// one returns the request about the action of the path, whose full id is required.
func (a approvalsAPI) one(r *http.Request) (safety.Waiting, error) {
	action, err := a.app.Ledger.Action(r.Context(), r.PathValue("id"))
	if err != nil {
		return safety.Waiting{}, err
	}
	w, err := a.app.WaitingRequest(r.Context(), action.ID)
	if _, ok := errors.AsType[usage.Error](err); ok {
		err = apiError{http.StatusConflict, err}
	}
	return w, err
}

// An AnswerBody names the request that was shown.
type AnswerBody struct {
	RequestID string `json:"request_id"`
	Digest    string `json:"digest"`
	Why       string `json:"why"` // of a rejection; may be empty
}

func (a approvalsAPI) approve(r *http.Request) (any, error) {
	return a.decide(r, func(ctx context.Context, tx queue.Tx, shown safety.Approval, _ string) (postroom.Action, error) {
		return a.app.Ledger.ApproveRequest(ctx, tx, shown, a.app.Env.Config.API.Approver)
	})
}

func (a approvalsAPI) reject(r *http.Request) (any, error) {
	return a.decide(r, func(ctx context.Context, tx queue.Tx, shown safety.Approval, why string) (postroom.Action, error) {
		return a.app.Ledger.RejectRequest(ctx, tx, shown, a.app.Env.Config.API.Approver, why)
	})
}

func (a approvalsAPI) decide(r *http.Request, answer func(context.Context, queue.Tx, safety.Approval, string) (postroom.Action, error)) (any, error) {
	var body AnswerBody
	if err := readBody(r, &body); err != nil || body.RequestID == "" || body.Digest == "" {
		return nil, apiError{http.StatusBadRequest, errors.New("the body is a JSON object with request_id and digest, as the request was shown, and why if you like")}
	}
	ctx := r.Context()
	if strings.HasSuffix(r.URL.Path, "/approve") {
		if err := a.app.FreezeContent(ctx, r.PathValue("id")); err != nil {
			return nil, err
		}
	}
	var action postroom.Action
	err := a.app.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		action, err = answer(ctx, tx, safety.Approval{ID: body.RequestID, ActionID: r.PathValue("id"), Digest: body.Digest}, body.Why)
		return err
	})
	if err != nil {
		return nil, err
	}
	answered := view.Answer{ID: action.ID, State: action.State}
	err = a.app.Ledger.HeldAction(ctx, action.ID)
	if held, ok := errors.AsType[*postroom.HeldError](err); ok {
		answered.Held, err = held.Error(), nil
	}
	return answered, err
}
