package environment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
)

// Beyond this machine nothing is served unless something says who people are, and who may do what.
func TestThePageIsServedElsewhereToKnownPeopleOnly(t *testing.T) {
	proxy := func(w *config.Web) {
		w.URL, w.ProxyHeader, w.ProxyAddresses = "https://mail.example.org", "X-Email", []string{"127.0.0.1"}
		w.People = []string{"ada@example.org=own", "eve@example.org=see"}
	}
	provider := func(w *config.Web) {
		proxy(w)
		w.ProxyHeader, w.ProxyAddresses, w.OIDCIssuer, w.OIDCClientID = "", []string{}, "https://id.example", "postroom"
	}
	for name, c := range map[string]struct {
		base, change func(*config.Web)
		says         string
	}{
		"this machine":       {nil, nil, ""},
		"a proxy":            {proxy, nil, ""},
		"only a table":       {nil, func(w *config.Web) { w.People = []string{"ada@example.org=own"} }, "nothing says who people are"},
		"both":               {proxy, func(w *config.Web) { w.OIDCIssuer = "https://id.example" }, "leave one of them out"},
		"any proxy":          {proxy, func(w *config.Web) { w.ProxyAddresses = nil }, "web.proxy_addresses is not"},
		"no header":          {nil, func(w *config.Web) { w.ProxyAddresses = []string{"::1"} }, "web.proxy_header is not"},
		"no issuer":          {nil, func(w *config.Web) { w.OIDCClientID = "x" }, "web.oidc_issuer is not"},
		"no client":          {provider, func(w *config.Web) { w.OIDCClientID = "" }, "web.oidc_client_id is not"},
		"no url":             {proxy, func(w *config.Web) { w.URL = "" }, "web.url is not"},
		"its own name":       {proxy, func(w *config.Web) { w.URL = "http://localhost:17800" }, "the address of the log signs in"},
		"without encryption": {provider, func(w *config.Web) { w.URL = "http://mail.example.org" }, "needs https"},
		"nobody":             {proxy, func(w *config.Web) { w.People = nil }, "web.people is empty"},
	} {
		s := &Environment{Config: config.Default()}
		for _, change := range []func(*config.Web){c.base, c.change} {
			if change != nil {
				change(&s.Config.Web)
			}
		}
		err := s.checkWeb()
		if c.says == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.says, name)
		}
	}
	s := &Environment{Config: config.Default()}
	proxy(&s.Config.Web)
	s.Config.Policy.Approvers = []string{"ada@example.org"}
	require.NoError(t, s.checkWeb(), "who only sees need not approve")
	s.Config.Policy.Approvers = []string{"ada"}
	require.ErrorContains(t, s.checkWeb(), "policy.approvers does not have")
}
