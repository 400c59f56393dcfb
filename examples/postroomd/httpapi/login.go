package httpapi

import (
	"net"
	"net/netip"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/queue/queueui"
)

// NewLogin makes the login of a server on the listener. The address that signs in is kept in the data folder for
// 'postroomd page', until ForgetLogin. changed is called with the next one each time somebody has signed in.
func NewLogin(h *app.App, listener net.Listener, changed func(address string)) *queueui.Login {
	keep := func(address string) {
		if !h.Env.Demo && !h.Env.Config.App.Dashboard {
			return // profiles alone are served
		}
		if err := h.Env.Folder.KeepPage(address); err != nil {
			h.Log.Warn("the address that signs in is not kept for 'postroomd page'", "error", err)
		}
	}
	login := queueui.NewLogin(URLOf(listener), func(address string) {
		keep(address)
		changed(address)
	})
	keep(login.Address())
	return login
}

// ForgetLogin removes the address of a server that has ended.
func ForgetLogin(h *app.App) {
	if err := h.Env.Folder.KeepPage(""); err != nil {
		h.Log.Warn("the address that signed in stays in the data folder", "error", err)
	}
}

// newGuard makes what lets people in from elsewhere; nil if the configuration lets nobody in.
func newGuard(h *app.App) (*access.Guard, error) {
	c := h.Env.Config.Web
	if c.ProxyHeader == "" && c.OIDCIssuer == "" {
		return nil, nil //nolint:nilnil // nobody is let in
	}
	people, err := access.ParsePeople(c.People)
	if err != nil {
		return nil, err
	}
	cfg := access.Config{People: people, URL: c.URL, ProxyHeader: c.ProxyHeader, Issuer: c.OIDCIssuer,
		ClientID: c.OIDCClientID, ClientSecret: string(c.OIDCSecret), Logger: h.Log}
	if cfg.ProxyAddresses, err = access.ParsePrefixes(c.ProxyAddresses); err != nil {
		return nil, err
	}
	warnOfLoopback(h, cfg.ProxyAddresses)
	if c.OIDCIssuer != "" {
		if cfg.Key, err = h.Env.PageKey(); err != nil {
			return nil, err
		}
	}
	return access.New(cfg)
}

// warnOfLoopback says that a proxy on this machine is not told from other programs here.
func warnOfLoopback(h *app.App, proxies []netip.Prefix) {
	for _, p := range proxies {
		if p.Overlaps(netip.MustParsePrefix("127.0.0.0/8")) || p.Contains(netip.IPv6Loopback()) {
			h.Log.Warn("every program on this machine can be anybody of web.people: a proxy is known by its address alone",
				"web.proxy_addresses", p.String())
		}
	}
}
