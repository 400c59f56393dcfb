package main

import (
	"net"
	"net/http"

	"github.com/postroom-go/postroom/queue/queueui"
)

// show serves the dashboard until it is closed. On a loopback address, anyone who can reach it may do everything that the command
// line can.
func serveDashboard(h *host, listener net.Listener, public bool) (*web, error) {
	cfg := &queueui.Config{Title: "Postroom", ReadOnly: public, HidePayloads: public, Authorize: authorizeRetry(h), Logger: h.log}
	if !public {
		cfg.Links = []queueui.Link{stopPageLink}
	}
	ui, err := queueui.New(h.queue, cfg)
	if err != nil {
		return nil, err
	}
	var handler http.Handler = ui
	if !public {
		handler = byLocalName(stopPage{h}.beside(ui))
	}
	return serve(listener, handler, ui.Close), nil
}

// authorizeRetry refuses useless retries, like the command line.
func authorizeRetry(h *host) func(*http.Request, queueui.Action) error {
	return func(r *http.Request, action queueui.Action) error {
		if id := r.PathValue("id"); action == queueui.ActionRetry && id != "" {
			return h.mayRetry(r.Context(), id)
		}
		return nil
	}
}
