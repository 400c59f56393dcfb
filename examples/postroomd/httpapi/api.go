package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/mcp"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/rules"
)

const apiPrefix = "/api/v1"

// withAPI adds the API and what assistants call, each if its token is configured. Each call needs the token, so any
// host name is permitted, and a proxy.
func withAPI(h *app.App, local http.Handler) (http.Handler, error) {
	all := http.NewServeMux()
	all.Handle("/", local)
	if token := h.Env.Config.MCP.Token; token != "" {
		serve := mcp.NewHandler(h, mcp.Caller{Name: "http", Propose: h.Env.Config.MCP.Propose})
		all.Handle("/mcp", authorized(h, "mcp.token", token, serve))
	}
	if h.Env.Config.API.Token == "" {
		return all, nil
	}
	caller := webapi.Caller{Name: h.Env.Config.API.Approver}
	cfg := webapi.Config{
		Authorize: func(*http.Request) (webapi.Caller, error) { return caller, nil }, // the token has authorized it
		Prefix:    apiPrefix, CheckRule: func(rule *rules.Rule) error { return checkRefused(h.Env, rule) },
		More: instructionsAPI{h}.calls(), Status: apiStatus, Logger: h.Log,
	}
	switch paths := h.Env.Config.Paths; {
	case len(paths.MailboxRules) > 0:
		cfg.FixedRules = fmt.Sprintf("the rules are those of the files that paths.rules and paths.mailbox_rules name (%s), and "+
			"are changed there; without these settings they are changed here", strings.Join(h.Env.RulesPaths(), ", "))
	case paths.Rules != "":
		cfg.FixedRules = fmt.Sprintf("the rules are those of %s, which paths.rules names, and are changed there; "+
			"without paths.rules they are changed here", paths.Rules)
	}
	api, err := webapi.New(h.Pipeline, cfg)
	if err != nil {
		return nil, err
	}
	all.Handle("/api/", authorized(h, "api.token", h.Env.Config.API.Token, api))
	return all, nil
}

// authorized refuses calls without the token of a setting. Its timing does not reveal how much of a token is right.
func authorized(h *app.App, setting string, right config.Secret, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(right))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(token))
		if ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="postroomd"`)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusUnauthorized)
		err := printer.JSON(w, webapi.ErrorBody{
			Error: "the header field Authorization has no token that is right; write Bearer and the token of " + setting})
		if err != nil {
			h.Log.Warn("a call of the API is not answered", "error", err)
		}
	})
}

// apiStatus returns the status of an error of postroomd's own calls.
func apiStatus(err error) int {
	_, typed := errors.AsType[usage.Error](err)
	switch {
	case errors.Is(err, guidance.ErrChanged):
		return http.StatusConflict
	case typed, errors.Is(err, guidance.ErrInvalid), errors.Is(err, guidance.ErrSame):
		return http.StatusUnprocessableEntity
	}
	return 0
}
