package main

import (
	"cmp"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue/queueui"
)

// pages returns everything that postroomd serves: health, the dashboard and profiles.
func newPages(h *host, ready *readiness) (pages http.Handler, onClose func(), err error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		answerHealth(h, w, r, "healthy", "unhealthy", nil)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		answerHealth(h, w, r, "ready", "not ready", ready)
	})
	if h.env.Config.App.Pprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	onClose = func() {}
	if h.env.Config.App.Dashboard {
		ui, err := queueui.New(h.queue, &queueui.Config{Title: "Postroom", Links: []queueui.Link{stopPageLink}, Authorize: authorizeRetry(h), Logger: h.log})
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
func withPush(h *host, local http.Handler, onClose func()) (pages http.Handler, _ func(), err error) {
	if h.env.Config.Gmail.PushAudience == "" {
		return local, onClose, nil
	}
	receiver, err := h.receiver()
	if err != nil {
		return nil, nil, err
	}
	cfg := gmail.PushConfig{Receiver: receiver, Audience: h.env.Config.Gmail.PushAudience, ServiceAccount: h.env.Config.Gmail.PushAccount, Logger: h.log}
	if base := strings.TrimRight(h.env.Config.Gmail.AuthServer, "/"); base != "" {
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

func answerHealth(h *host, w http.ResponseWriter, r *http.Request, good, bad string, ready *readiness) {
	body := health{Status: good, Version: version(), Database: "ok"}
	if err := h.probe(r.Context()); err != nil {
		body.Status, body.Database = bad, err.Error()
	}
	if ready != nil {
		body.Accounts, body.Access = cmp.Or(h.notReady(r.Context(), ready), "ok"), ready.lacking()
		if body.Accounts != "ok" {
			body.Status = bad
		}
	}
	if body.Database == "ok" {
		var err error
		if body.Stopped, err = h.stopper.stoppedBy(r.Context()); err != nil {
			body.Status, body.Database = bad, err.Error()
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if body.Status == bad {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if err := printer.JSON(w, body); err != nil {
		h.log.Warn("a health check is not answered", "error", err)
	}
}
