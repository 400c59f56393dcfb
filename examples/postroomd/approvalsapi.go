package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// An approvalsAPI lists and answers requests for approval, for programs that have the configured token.
type approvalsAPI struct{ *host }

const (
	apiPrefix = "/api/v1/approvals"
	// maxAnswer bounds the body of an answer.
	maxAnswer = 64 << 10
)

// checkAPI returns an error if the API could answer in vain.
func (s *site) checkAPI() error {
	approvers, name := s.cfg.Policy.Approvers, s.cfg.API.Approver
	if s.cfg.API.Token == "" || len(approvers) == 0 || slices.Contains(approvers, name) {
		return nil
	}
	return usage("api.token is set and api.approver is %q, which policy.approvers does not have; add %q to policy.approvers, or leave policy.approvers empty", name, name)
}

// withAPI adds the API, if a token is configured. Each call has the token, so that it may come under any name, through a proxy.
func (h *host) withAPI(local http.Handler) http.Handler {
	if h.cfg.API.Token == "" {
		return local
	}
	a := approvalsAPI{h}
	mux := http.NewServeMux()
	for pattern, fn := range map[string]func(*http.Request) (any, error){
		"GET " + apiPrefix:                    a.list,
		"GET " + apiPrefix + "/{id}":          a.show,
		"POST " + apiPrefix + "/{id}/approve": a.approve,
		"POST " + apiPrefix + "/{id}/reject":  a.reject,
	} {
		mux.Handle(pattern, a.answers(fn))
	}
	mux.Handle("/", a.answers(func(*http.Request) (any, error) {
		return nil, apiError{http.StatusNotFound, errors.New("there is no such call")}
	}))
	all := http.NewServeMux()
	all.Handle("/api/", a.authorized(mux))
	all.Handle("/", local)
	return all
}

// authorized lets only those pass who have the token. The time it takes tells nothing of how much of it is right.
func (a approvalsAPI) authorized(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(a.cfg.API.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(token))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="postroomd"`)
			a.reply(w, http.StatusUnauthorized, errorView{"the header field Authorization has no token that is right; write Bearer and the token of api.token"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// An apiError is an error whose status is known.
type apiError struct {
	status int
	error
}

func (e apiError) Unwrap() error { return e.error }

type errorView struct {
	Error string `json:"error"`
}

// answers makes a call of what returns a value or an error.
func (a approvalsAPI) answers(fn func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxAnswer)
		value, err := fn(r)
		if err == nil {
			a.reply(w, http.StatusOK, value)
			return
		}
		status := apiStatus(err)
		if status == http.StatusInternalServerError {
			a.log.Error("a call of the API failed", "path", r.URL.Path, "error", err)
			err = errors.New("it failed here; the log says why")
		}
		a.reply(w, status, errorView{err.Error()})
	})
}

func (a approvalsAPI) reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := printJSON(w, value); err != nil {
		a.log.Warn("a call of the API is not answered", "error", err)
	}
}

// apiStatus is the status of an error: 409 is of what has changed, and is to be looked at again.
func apiStatus(err error) int {
	var known apiError
	var typed usageError
	switch {
	case errors.As(err, &known):
		return known.status
	case errors.Is(err, postroom.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, safety.ErrNotApprover):
		return http.StatusForbidden
	case errors.Is(err, safety.ErrState), errors.Is(err, safety.ErrApprovalVoid), errors.Is(err, safety.ErrApprovalExpired):
		return http.StatusConflict
	case errors.Is(err, safety.ErrInvalidDecision), errors.As(err, &typed):
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

// A requestView is a request with what an answer to it must name.
type requestView struct {
	shownView
	RequestID string `json:"request_id"`
	Digest    string `json:"digest"`
}

// list lists what waits, newest first: limit is 1 to 100, and before the id of the last action of a page selects the next.
func (a approvalsAPI) list(r *http.Request) (any, error) {
	query := r.URL.Query()
	f := safety.Filter{Limit: 20, Before: query.Get("before"), AccountID: query.Get("account_id"), Rule: query.Get("rule")}
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100 {
			return nil, apiError{http.StatusBadRequest, errors.New("limit is a number from 1 to 100")}
		}
		f.Limit = n
	}
	waiting, err := a.ledger.Approvals(r.Context(), f)
	if err != nil {
		return nil, err
	}
	names, err := a.labelNames(r.Context())
	return listed(waiting, func(w safety.Waiting) requestView {
		return requestView{shownView{approvalView: viewApproval(w, names)}, w.Approval.ID, w.Approval.Digest}
	}), err
}

// show composes what the action sends, so that the digest is that of what is shown.
func (a approvalsAPI) show(r *http.Request) (any, error) {
	w, err := a.one(r)
	if err != nil {
		return nil, err
	}
	message, sends, err := a.preview(r.Context(), w.Action)
	if err != nil {
		return nil, err
	}
	if w, err = a.one(r); err != nil {
		return nil, err
	}
	names, err := a.labelNames(r.Context())
	return requestView{viewShown(w, message, sends, names), w.Approval.ID, w.Approval.Digest}, err
}

// one returns the request about the action of the path, whose id is given whole.
func (a approvalsAPI) one(r *http.Request) (safety.Waiting, error) {
	action, err := a.ledger.Action(r.Context(), r.PathValue("id"))
	if err != nil {
		return safety.Waiting{}, err
	}
	w, err := a.waiting(r.Context(), action.ID)
	if _, ok := errors.AsType[usageError](err); ok {
		err = apiError{http.StatusConflict, err}
	}
	return w, err
}

// An answerBody names the request that was shown.
type answerBody struct {
	RequestID string `json:"request_id"`
	Digest    string `json:"digest"`
	Why       string `json:"why"` // of a rejection; may be empty
}

// An answerView is what became of the action.
type answerView struct {
	ID    string               `json:"id"`
	State postroom.ActionState `json:"state"`
	Held  string               `json:"held,omitempty"` // why an approved action is not carried out now
}

func (a approvalsAPI) approve(r *http.Request) (any, error) {
	return a.decide(r, func(ctx context.Context, tx queue.Tx, shown safety.Approval, _ string) (postroom.Action, error) {
		return a.ledger.ApproveRequest(ctx, tx, shown, a.cfg.API.Approver)
	})
}

func (a approvalsAPI) reject(r *http.Request) (any, error) {
	return a.decide(r, func(ctx context.Context, tx queue.Tx, shown safety.Approval, why string) (postroom.Action, error) {
		return a.ledger.RejectRequest(ctx, tx, shown, a.cfg.API.Approver, why)
	})
}

func (a approvalsAPI) decide(r *http.Request, answer func(context.Context, queue.Tx, safety.Approval, string) (postroom.Action, error)) (any, error) {
	var body answerBody
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	if err := in.Decode(&body); err != nil || body.RequestID == "" || body.Digest == "" {
		return nil, apiError{http.StatusBadRequest, errors.New("the body is a JSON object with request_id and digest, as the request was shown, and why if you like")}
	}
	ctx := r.Context()
	if strings.HasSuffix(r.URL.Path, "/approve") {
		if err := a.fixContent(ctx, r.PathValue("id")); err != nil {
			return nil, err
		}
	}
	var action postroom.Action
	err := a.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		action, err = answer(ctx, tx, safety.Approval{ID: body.RequestID, ActionID: r.PathValue("id"), Digest: body.Digest}, body.Why)
		return err
	})
	if err != nil {
		return nil, err
	}
	view := answerView{ID: action.ID, State: action.State}
	err = a.ledger.HeldAction(ctx, action.ID)
	if held, ok := errors.AsType[*postroom.HeldError](err); ok {
		view.Held, err = held.Error(), nil
	}
	return view, err
}
