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
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue/queueui"
)

// NewHandler returns everything that postroomd serves: health, the dashboard and profiles.
func NewHandler(h *app.App, ready *app.Readiness) (pages http.Handler, onClose func(), err error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		answerHealth(h, w, r, "healthy", "unhealthy", nil)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		answerHealth(h, w, r, "ready", "not ready", ready)
	})
	if h.Env.Config.App.Pprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	onClose = func() {}
	if h.Env.Config.App.Dashboard {
		ui, err := queueui.New(h.Queue, &queueui.Config{Title: "Postroom", Links: []queueui.Link{stopPageLink}, Authorize: authorizeRetry(h), Logger: h.Log})
		if err != nil {
			return nil, nil, err
		}
		mux.Handle("/", stopPage{h}.beside(ui))
		onClose = ui.Close
	}
	return withPush(h, withAPI(h, byLocalName(mux)), onClose)
}

// withPush adds the handler of Pub/Sub's posts. They come through the user's proxy and so under any host name: each post is
// signed.
func withPush(h *app.App, local http.Handler, onClose func()) (pages http.Handler, _ func(), err error) {
	if h.Env.Config.Gmail.PushAudience == "" {
		return local, onClose, nil
	}
	receiver, err := h.NewReceiver()
	if err != nil {
		return nil, nil, err
	}
	cfg := gmail.PushConfig{Receiver: receiver, Audience: h.Env.Config.Gmail.PushAudience, ServiceAccount: h.Env.Config.Gmail.PushAccount, Logger: h.Log}
	if base := strings.TrimRight(h.Env.Config.Gmail.AuthServer, "/"); base != "" {
		cfg.Issuers, cfg.KeysURL = []string{base}, base+"/oauth2/v3/certs"
	}
	push, err := gmail.NewPushHandler(cfg)
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/push/gmail", push)
	mux.Handle("/", local)
	return mux, onClose, nil
}

func answerHealth(h *app.App, w http.ResponseWriter, r *http.Request, good, bad string, ready *app.Readiness) {
	body := view.Health{Status: good, Version: telemetry.Version(), Database: "ok"}
	if err := h.Probe(r.Context()); err != nil {
		body.Status, body.Database = bad, err.Error()
	}
	if ready != nil {
		body.Accounts, body.Access = cmp.Or(h.NotReady(r.Context(), ready), "ok"), ready.MissingCredentials()
		if body.Accounts != "ok" {
			body.Status = bad
		}
	}
	if body.Database == "ok" {
		var err error
		if body.Stopped, err = h.Stopper.StoppedBy(r.Context()); err != nil {
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
