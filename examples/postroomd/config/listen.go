package config

import (
	"net"
	"net/netip"
	"strconv"
)

func ipAddress(s string) string {
	if _, err := netip.ParseAddr(s); err != nil {
		return "an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all"
	}
	return ""
}

// listenFaults returns the fault of a program that other machines reach and that asks nobody who they are.
func (c *Config) listenFaults() []fault {
	address, err := netip.ParseAddr(c.App.Listen)
	if err != nil || address.IsLoopback() || c.API.Token+c.MCP.Token != "" ||
		c.Web.ProxyHeader+c.Web.OIDCIssuer != "" {
		return nil
	}
	return []fault{{"app.listen", "other machines reach " + c.App.Listen + ", and nothing asks who they are",
		"set api.token, web.proxy_header or web.oidc_issuer, or listen at 127.0.0.1"}}
}

// ListenAddress is where the program listens.
func (a *App) ListenAddress() string { return net.JoinHostPort(a.Listen, strconv.Itoa(a.Port)) }

// OwnAddress is where programs on this machine reach it.
func (a *App) OwnAddress() string {
	host := a.Listen
	if address, err := netip.ParseAddr(host); err == nil && address.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(a.Port))
}
