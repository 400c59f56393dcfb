package cli

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/httpapi"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
)

// dashboardFlags set whether and where the page is served, or the dashboard of the queue alone.
type dashboardFlags struct {
	address string
	public  bool
}

func (d *dashboardFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&d.address, "dashboard", "", "serve the page to browsers at this address, such as 127.0.0.1:8080, until "+
		"interrupted; none: serve nothing (default: at a terminal a free port of 127.0.0.1, elsewhere none)")
	flags.BoolVar(&d.public, "dashboard-public", false,
		"let --dashboard be an address that other machines reach; nobody logs in, so it shows no mail there and changes nothing")
}

// noDashboard is the address that serves nothing.
const noDashboard = "none"

// serveByDefault serves the page at a free port of this machine, if no flag says anything else.
func (d *dashboardFlags) serveByDefault() {
	if d.address == "" && !d.public {
		d.address = "127.0.0.1:0"
	}
}

// listen takes the address before anything is written. Without an address it returns nil.
func (d *dashboardFlags) listen(ctx context.Context) (net.Listener, error) {
	if d.address == "" || d.address == noDashboard {
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
	if !d.public && !access.IsLoopback(host) {
		return nil,
			usage.Errorf(
				"--dashboard %s: other machines may reach that, and nobody logs in; use 127.0.0.1, or add --dashboard-public",
				d.address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("--dashboard %s: %w", d.address, err)
	}
	return listener, nil
}

// serve serves the pages, or to everybody the dashboard of the queue alone.
func (d *dashboardFlags) serve(h *app.App, listener net.Listener,
	signedIn func(address string)) (*httpapi.Server, error) {
	if d.public {
		return httpapi.ServePublic(h, listener)
	}
	return httpapi.ServePages(h, listener, signedIn)
}
