package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/bulk"
	"github.com/postroom-go/postroom/examples/postroomd/editor"
	"github.com/postroom-go/postroom/examples/postroomd/fixing"
	"github.com/postroom-go/postroom/examples/postroomd/subscriptions"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/safety"
)

const prefix = "/api/v1"

// A Handler serves the calls below /api/. It is safe for concurrent use.
type Handler struct {
	http.Handler
	end func()
}

// Close ends the streams of events. Calls are still served.
func (h *Handler) Close() { h.end() }

// New returns the handler of an App. Each call needs the token of the configuration, or a stored one.
func New(h *app.App) (*Handler, error) {
	done := make(chan struct{})
	cfg := webapi.Config{
		Authorize: access{h}.authorize,
		Prefix:    prefix, CheckRule: func(rule *rules.Rule) error { return checkRefused(h.Env, rule) },
		More: routes(h, done), Status: status, Logger: h.Log, Held: h.HeldByRestore,
	}
	switch paths := h.Env.Config.Paths; {
	case len(paths.MailboxRules) > 0:
		cfg.FixedRules = fmt.Sprintf("the rules are those of the files that paths.rules and paths.mailbox_rules name (%s), and "+
			"are changed there; without these settings they are changed here", strings.Join(h.Env.RulesPaths(), ", "))
	case paths.Rules != "":
		cfg.FixedRules = fmt.Sprintf("the rules are those of %s, which paths.rules names, and are changed there; "+
			"without paths.rules they are changed here", paths.Rules)
	}
	calls, err := webapi.New(h.Pipeline, cfg)
	if err != nil {
		return nil, err
	}
	own := tokens.Token{Name: h.Env.Config.API.Approver, Scope: tokens.Own}
	return &Handler{NewAccess(h, "api.token", h.Env.Config.API.Token, own).Require(calls),
		sync.OnceFunc(func() { close(done) })}, nil
}

// routes are the routes of the daemon; done ends streams. h may be nil if they are only described.
func routes(h *app.App, done <-chan struct{}) []webapi.Route {
	of := mailboxes{h}
	return slices.Concat(instructionsAPI{h}.routes(), approvalsAPI{h, of}.routes(), mailAPI{h, of}.routes(),
		fixAPI{h, of}.routes(),
		bulkAPI{h, of}.routes(), actionsAPI{h, of}.routes(), backtestAPI{h, of}.routes(),
		ruleActivityAPI{h, of}.routes(), rulesTextAPI{h, of}.routes(),
		mailboxesAPI{h, of}.routes(), archiveAPI{h, of}.routes(), awayAPI{h, of}.routes(),
		jobsAPI{h}.routes(), tasksAPI{h, of}.routes(),
		notesAPI{h, of}.routes(),
		remindersAPI{h, of}.routes(), statisticsAPI{h, of}.routes(),
		draftsAPI{h, of}.routes(), voiceAPI{h, of}.routes(), subscriptionsAPI{h, of}.routes(), agentsAPI{h, of}.routes(),
		modelCallsAPI{h, of}.routes(), meaningAPI{h, of}.routes(), learnAPI{h, of}.routes(),
		eventsAPI{h, of, done, &openStreams{of: map[string]int{}}}.routes())
}

// OpenAPI returns the description of the API, as JSON.
func OpenAPI() ([]byte, error) {
	return webapi.OpenAPI("Postroom", "1", prefix, webapi.Routes(webapi.Config{More: routes(nil, nil)}), schemaNames)
}

// ServeOpenAPI serves the description of the API.
func ServeOpenAPI(w http.ResponseWriter, _ *http.Request) {
	text, err := OpenAPI()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// notFound gives the error about an id that the caller has made up the status of a missing thing.
func notFound(err error) error {
	if _, wrong := errors.AsType[usage.Error](err); wrong {
		err = webapi.WithStatus(http.StatusNotFound, err)
	}
	return err
}

// conflict is notFound for what is there and was answered.
func conflict(err error) error {
	if _, wrong := errors.AsType[usage.Error](err); wrong {
		err = webapi.WithStatus(http.StatusConflict, err)
	}
	return err
}

// status returns the status of an error of the daemon's own calls. 409 means that something has changed, and must be
// read again.
func status(err error) int {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
	_, typed := errors.AsType[usage.Error](err)
	switch {
	case is(safety.ErrNotApprover):
		return http.StatusForbidden
	case is(guidance.ErrChanged, bulk.ErrChanged, fixing.ErrChanged, subscriptions.ErrChanged, safety.ErrState,
		safety.ErrApprovalVoid, safety.ErrApprovalExpired, safety.ErrAltered, rules.ErrDecidedAgain, lessons.ErrState,
		lessons.ErrBulk, lessons.ErrRight, editor.ErrChanged):
		return http.StatusConflict
	case is(app.ErrNotRevoked):
		return http.StatusBadGateway
	case typed, is(guidance.ErrInvalid, guidance.ErrSame):
		return http.StatusUnprocessableEntity
	}
	return 0
}
