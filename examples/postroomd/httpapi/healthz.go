package httpapi

import (
	"cmp"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/telemetry"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue/queueui"
)

// NewHandler returns everything that postroomd serves: health, and for those who have signed in at login, or whom the
// configuration names, the pages and profiles; without a login these are not served.
func NewHandler(h *app.App, login *queueui.Login) (pages http.Handler, onClose func(), err error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		answerHealth(h, w, r, "healthy", "unhealthy", false)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		answerHealth(h, w, r, "ready", "not ready", true)
	})
	onClose = func() {}
	guard, err := newGuard(h)
	if err != nil {
		return nil, nil, err
	}
	elsewhere := http.NotFoundHandler()
	if login != nil {
		private, closePages, err := newPrivatePages(h)
		if err != nil {
			return nil, nil, err
		}
		mux.Handle("/", login.Protect(access.Local(private)))
		onClose = closePages
		if guard != nil {
			elsewhere = guard.Protect(private)
		}
	}
	handler, onClose, err := withAPI(h, byName(mux, guard, elsewhere), onClose)
	if err != nil {
		return nil, nil, err
	}
	return withPush(h, handler, onClose)
}

// newPrivatePages returns the pages of those who have signed in.
func newPrivatePages(h *app.App) (pages http.Handler, onClose func(), err error) {
	mux, onClose := http.NewServeMux(), func() {}
	if h.Env.Config.App.Pprof {
		for path, serve := range map[string]http.HandlerFunc{"": pprof.Index, "cmdline": pprof.Cmdline,
			"profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace} {
			mux.Handle("/debug/pprof/"+path, access.Require(access.Own, access.Own, serve))
		}
	}
	if h.Env.Config.App.Dashboard {
		pages, closePages, err := newPages(h)
		if err != nil {
			return nil, nil, err
		}
		mux.Handle("/", pages)
		onClose = closePages
	}
	return mux, onClose, nil
}

// withPush adds the handler of Pub/Sub's posts. They come through the user's proxy and so under any host name: each
// post is signed.
func withPush(h *app.App, local http.Handler, onClose func()) (pages http.Handler, _ func(), err error) {
	if h.Env.Config.Gmail.PushAudience == "" {
		return local, onClose, nil
	}
	cfg := gmail.PushConfig{Audience: h.Env.Config.Gmail.PushAudience, ServiceAccount: h.Env.Config.Gmail.PushAccount}
	if base := strings.TrimRight(h.Env.Config.Gmail.AuthServer, "/"); base != "" {
		cfg.Issuers, cfg.KeysURL = []string{base}, base+"/oauth2/v3/certs"
	}
	push, err := h.NewPushHandler(cfg)
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/push/gmail", push)
	mux.Handle("/", local)
	return mux, onClose, nil
}

func answerHealth(h *app.App, w http.ResponseWriter, r *http.Request, good, bad string, accounts bool) {
	body := view.Health{Status: good, Version: telemetry.Version(), Database: "ok"}
	if err := h.Probe(r.Context()); err != nil {
		body.Status, body.Database = bad, err.Error()
	}
	if accounts {
		body.Accounts, body.Access = cmp.Or(h.NotReady(r.Context()), "ok"), h.MissingCredentials()
		body.Rules = h.RulesFaults()
		if body.Accounts != "ok" {
			body.Status = bad
		}
	} else if lost := h.SignedOut(r.Context()); len(lost) > 0 && body.Database == "ok" {
		body.Status, body.Accounts = "degraded", strings.Join(lost, "\n")
	}
	if body.Database == "ok" {
		var err error
		if body.Stopped, err = h.StoppedBy(r.Context()); err != nil {
			body.Status, body.Database = bad, err.Error()
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if body.Status == bad {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if err := printer.JSON(w, body); err != nil {
		h.Log.Warn("a health check is not answered", "error", err)
	}
}
