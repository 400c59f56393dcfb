package webapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/pipeline"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
)

// Config configures the handler of [New]. It is copied and checked once, by New.
type Config struct {
	// Authorize returns who makes a request; an error refuses it, with status 403 unless it is made by [WithStatus].
	// Required: whoever can call may do everything that a person may. Requests of browsers need a protection against
	// those that another site makes, such as [http.CrossOriginProtection]. [RouteOf] says which call is made.
	Authorize func(r *http.Request) (Caller, error)
	// Prefix is the path before the calls, such as "/api/v1". Default empty.
	Prefix string

	// FixedRules says to people why rules are not changed here, such as because they come from a file. Default empty:
	// they are.
	FixedRules string
	// CheckRule returns an error for a rule that the host refuses. Default nil: it refuses none.
	CheckRule func(rule *rules.Rule) error
	// Held says to people what waits although nothing is stopped, such as because the database was put back to an earlier
	// state, and what ends that; empty if nothing does. It is shown beside a stop. Default nil: nothing is said of it.
	Held func(ctx context.Context) (string, error)

	// More are routes of the host's own. One with the method and the path of a route of this package replaces it.
	// Default nil: none.
	More []Route
	// Status returns the status of an error of the host's own; 0 for any other. Default nil: it has none.
	Status func(err error) int
	// Logger logs errors with status 500, which callers do not see. Default [slog.Default].
	Logger *slog.Logger
}

// A Caller makes a request.
type Caller struct {
	// Name is recorded with what the caller does, and must be among the approvers of the ledger to answer a request.
	Name string
	// AccountID restricts the caller to one account: others do not exist for it, and it cannot stop everything. Empty:
	// all accounts.
	AccountID string
}

// sees reports whether the caller may know of something of the account.
func (c Caller) sees(accountID string) bool { return c.AccountID == "" || c.AccountID == accountID }

// A Call returns a value that becomes the JSON of the answer, or an error.
type Call = func(r *http.Request) (any, error)

// MaxBody bounds the body of a call, in bytes.
const MaxBody = 64 << 10

// An api serves the calls.
type api struct {
	*pipeline.Pipeline
	cfg Config
}

// New returns the handler of the API of a pipeline; a missing field is an error that names it.
func New(p *pipeline.Pipeline, cfg Config) (http.Handler, error) {
	err := errors.Join(
		fields.Required("webapi: New: the Pipeline", p, "one made by pipeline.New"),
		fields.Required("webapi: Config.Authorize", cfg.Authorize, "a function that returns who makes a request"),
	)
	if err != nil {
		return nil, err
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	a := &api{p, cfg}
	mux := http.NewServeMux()
	for _, route := range a.routes() {
		mux.Handle(strings.TrimSpace(route.Method+" "+cfg.Prefix+route.Path), a.answers(route))
	}
	mux.Handle("/", a.answers(Route{call: func(*http.Request) (any, error) {
		return nil, WithStatus(http.StatusNotFound, errors.New("there is no such call"))
	}}))
	return mux, nil
}

// Routes returns the routes of a handler that [New] makes with the Config, sorted by path, to describe them.
func Routes(cfg Config) []Route {
	return slices.DeleteFunc((&api{cfg: cfg}).routes(), func(r Route) bool { return r.Summary == "" })
}

func (a *api) routes() []Route {
	own := slices.Concat(approvalRoutes(a), ruleRoutes(a), stopRoutes(a))
	own = slices.DeleteFunc(own, func(r Route) bool {
		return slices.ContainsFunc(a.cfg.More, func(o Route) bool { return o.Method == r.Method && o.Path == r.Path })
	})
	all := slices.Concat(own, a.cfg.More)
	slices.SortStableFunc(all, func(x, y Route) int { return cmp.Compare(x.Path, y.Path) })
	return all
}

// WithStatus returns an error with the status of its answer.
func WithStatus(status int, err error) error { return statusError{status, err} }

type statusError struct {
	status int
	error
}

func (e statusError) Unwrap() error { return e.error }

// An ErrorBody is the body of an answer that is an error: a problem of RFC 9457. Error is its detail.
type ErrorBody struct {
	Type   string `json:"type"` // about:blank: the status says what kind of problem it is
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Error  string `json:"error"`
}

// WriteProblem answers a request with an error.
func WriteProblem(w http.ResponseWriter, status int, says string) error {
	w.Header().Set("Content-Type", "application/problem+json")
	return writeJSON(w, status, ErrorBody{"about:blank", http.StatusText(status), status, says, says})
}

// timeToWrite is the time in which the answer to a long call is written.
const timeToWrite = time.Minute

// answers answers the requests of a route.
func (a *api) answers(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
		if route.Takes > 0 {
			// Without a connection, as in a test, there is no limit to move.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(route.Takes + timeToWrite))
			ctx, cancel := context.WithTimeout(r.Context(), route.Takes)
			defer cancel()
			r = r.WithContext(ctx)
		}
		err := checkAddress(r)
		var value any
		if err == nil {
			value, err = a.authorized(withRoute(r, route), route.call)
		}
		if write, ok := value.(streamer); ok && err == nil {
			if err = write(w); err == nil {
				return
			}
		}
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		if v, ok := value.(revised); ok {
			w.Header().Set("ETag", etag(v.Revised()))
		}
		w.Header().Set("Content-Type", "application/json")
		a.logUnanswered(writeJSON(w, http.StatusOK, value))
	})
}

func (a *api) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status := a.status(err)
	if status == http.StatusInternalServerError {
		a.cfg.Logger.Error("a call of the API failed", "path", r.URL.Path, "error", err)
		err = errors.New("it failed here; the log says why")
	}
	a.logUnanswered(WriteProblem(w, status, err.Error()))
}

func (a *api) logUnanswered(err error) {
	if err != nil {
		a.cfg.Logger.Warn("a call of the API is not answered", "error", err)
	}
}

func (a *api) authorized(r *http.Request, fn Call) (any, error) {
	caller, err := a.cfg.Authorize(r)
	if err != nil {
		if _, ok := errors.AsType[statusError](err); !ok {
			err = WithStatus(http.StatusForbidden, err)
		}
		return nil, err
	}
	return fn(r.WithContext(withCaller(r.Context(), caller)))
}

func writeJSON(w http.ResponseWriter, status int, value any) error {
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// status returns the status of an error. 409 means that something has changed and must be read again.
func (a *api) status(err error) int {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
	if known, ok := errors.AsType[statusError](err); ok {
		return known.status
	}
	if a.cfg.Status != nil {
		if status := a.cfg.Status(err); status != 0 {
			return status
		}
	}
	switch {
	case is(postroom.ErrNotFound):
		return http.StatusNotFound
	case is(safety.ErrNotApprover):
		return http.StatusForbidden
	case is(safety.ErrState, safety.ErrApprovalVoid, safety.ErrApprovalExpired, rulestore.ErrChanged,
		rulestore.ErrNameTaken):
		return http.StatusConflict
	case is(safety.ErrInvalidDecision, rules.ErrInvalidRule, rulestore.ErrSameRule),
		gmailapi.ClassOf(err) == gmailapi.ClassRefused:
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}
