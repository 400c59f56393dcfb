package httpapi

import (
	"net"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/queue/queueui"
)

// ServeDashboard serves the dashboard until it is closed. On a loopback address, anyone who can reach it may do everything that the command
// line can.
func ServeDashboard(h *app.App, listener net.Listener, public bool) (*Server, error) {
	cfg := &queueui.Config{Title: "Postroom", ReadOnly: public, HidePayloads: public, Authorize: authorizeRetry(h), Logger: h.Log}
	if !public {
		cfg.Links = []queueui.Link{stopPageLink}
	}
	ui, err := queueui.New(h.Queue, cfg)
	if err != nil {
		return nil, err
	}
	var handler http.Handler = ui
	if !public {
		handler = byLocalName(stopPage{h}.beside(ui))
	}
	return Serve(listener, handler, ui.Close), nil
}

// authorizeRetry refuses useless retries, like the command line.
func authorizeRetry(h *app.App) func(*http.Request, queueui.Action) error {
	return func(r *http.Request, action queueui.Action) error {
		if id := r.PathValue("id"); action == queueui.ActionRetry && id != "" {
			return h.CheckRetry(r.Context(), id)
		}
		return nil
	}
}
