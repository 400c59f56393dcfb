package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
)

// An httpAPI serves programs that have the configured token.
type httpAPI struct{ app *app.App }

// A call returns a value, or an error whose status apiStatus knows.
type call = func(*http.Request) (any, error)

const (
	apiPrefix = "/api/v1/"
	// MaxAnswer bounds the body of a call.
	MaxAnswer = 64 << 10
)

// withAPI adds the API, if a token is configured. Each call needs the token, so any host name is permitted, and a proxy.
func withAPI(h *app.App, local http.Handler) http.Handler {
	if h.Env.Config.API.Token == "" {
		return local
	}
	a := httpAPI{h}
	calls := approvalsAPI{a}.calls()
	maps.Copy(calls, stopAPI{a}.calls())
	maps.Copy(calls, rulesAPI{a}.calls())
	maps.Copy(calls, instructionsAPI{a}.calls())
	mux := http.NewServeMux()
	for pattern, fn := range calls {
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

// authorized refuses calls without the token. Its timing does not reveal how much of a token is right.
func (a httpAPI) authorized(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(a.app.Env.Config.API.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(token))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="postroomd"`)
			a.reply(w, http.StatusUnauthorized, ErrorView{"the header field Authorization has no token that is right; write Bearer and the token of api.token"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// An apiError is an error with a status.
type apiError struct {
	status int
	error
}

func (e apiError) Unwrap() error { return e.error }

// An ErrorView is the body of an answer that is an error.
type ErrorView struct {
	Error string `json:"error"`
}

// answers makes a call of a function that returns a value or an error.
func (a httpAPI) answers(fn call) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, MaxAnswer)
		err := checkAddress(r)
		var value any
		if err == nil {
			value, err = fn(r)
		}
		if err == nil {
			a.reply(w, http.StatusOK, value)
			return
		}
		status := apiStatus(err)
		if status == http.StatusInternalServerError {
			a.app.Log.Error("a call of the API failed", "path", r.URL.Path, "error", err)
			err = errors.New("it failed here; the log says why")
		}
		a.reply(w, status, ErrorView{err.Error()})
	})
}

func (a httpAPI) reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := printer.JSON(w, value); err != nil {
		a.app.Log.Warn("a call of the API is not answered", "error", err)
	}
}

// apiStatus returns the status of an error. 409 means that something has changed and must be read again.
func apiStatus(err error) int {
	var known apiError
	var typed usage.Error
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
	switch {
	case errors.As(err, &known):
		return known.status
	case is(postroom.ErrNotFound):
		return http.StatusNotFound
	case is(safety.ErrNotApprover):
		return http.StatusForbidden
	case is(safety.ErrState, safety.ErrApprovalVoid, safety.ErrApprovalExpired, rulestore.ErrChanged, rulestore.ErrNameTaken, guidance.ErrChanged):
		return http.StatusConflict
	case is(safety.ErrInvalidDecision, rules.ErrInvalidRule, rulestore.ErrSameRule, guidance.ErrInvalid, guidance.ErrSame), errors.As(err, &typed):
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

// An apiKind is a kind of objects that programs list and change in a uniform way.
type apiKind struct{ list, create, show, patch, remove, swap call }

func (k apiKind) calls(name string) map[string]call {
	path := apiPrefix + name
	return map[string]call{
		"GET " + path:                 k.list,
		"POST " + path:                k.create,
		"GET " + path + "/{id}":       k.show,
		"PATCH " + path + "/{id}":     k.patch,
		"DELETE " + path + "/{id}":    k.remove,
		"POST " + path + "/{id}/swap": k.swap,
	}
}

// A swapBody names the object to exchange priorities with.
type swapBody struct {
	With string `json:"with"`
}

// A goneView is the response to a deletion.
type goneView struct {
	ID string `json:"id"`
}
