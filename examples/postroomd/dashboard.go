package main

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue/queueui"
)

// dashboardFlags set whether and where the dashboard of the queue is served.
type dashboardFlags struct {
	address string
	public  bool
}

func (d *dashboardFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&d.address, "dashboard", "", "show the jobs to browsers at this address, such as 127.0.0.1:8080, until interrupted")
	flags.BoolVar(&d.public, "dashboard-public", false,
		"let --dashboard be an address that other machines reach; nobody logs in, so it shows no mail there and changes nothing")
}

// listen takes the address before anything is written. Without an address it returns nil.
func (d *dashboardFlags) listen(ctx context.Context) (net.Listener, error) {
	if d.address == "" {
		if d.public {
			return nil, usage.Errorf("--dashboard-public says who may see the dashboard; --dashboard says where it is")
		}
		return nil, nil //nolint:nilnil // none was asked for
	}
	host, port, err := net.SplitHostPort(d.address)
	if err != nil {
		return nil, usage.Errorf("--dashboard takes an address with a port, such as 127.0.0.1:8080: %w", err)
	}
	if host == "" && !d.public {
		host = "127.0.0.1"
	}
	if !d.public && !isLoopback(host) {
		return nil, usage.Errorf("--dashboard %s: other machines may reach that, and nobody logs in; use 127.0.0.1, or add --dashboard-public", d.address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("--dashboard %s: %w", d.address, err)
	}
	return listener, nil
}

// isLoopback accepts names and addresses that lead to this machine regardless of name servers.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// show serves the dashboard until it is closed. On a loopback address, anyone who can reach it may do everything that the command
// line can.
func (h *host) show(listener net.Listener, public bool) (*web, error) {
	cfg := &queueui.Config{Title: "Postroom", ReadOnly: public, HidePayloads: public, Authorize: h.authorize, Logger: h.log}
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

// authorize refuses useless retries, like the command line.
func (h *host) authorize(r *http.Request, action queueui.Action) error {
	if id := r.PathValue("id"); action == queueui.ActionRetry && id != "" {
		return h.mayRetry(r.Context(), id)
	}
	return nil
}
