package environment

import (
	"net/url"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
)

// checkWeb returns an error if nobody could say who uses the page from elsewhere.
func (s *Environment) checkWeb() error {
	w := s.Config.Web
	proxy, provider := w.ProxyHeader != "", w.OIDCIssuer != ""
	switch {
	case !proxy && !provider && (w.URL != "" || len(w.People) > 0):
		return usage.Errorf("web.url or web.people is set, and nothing says who people are: set web.proxy_header or " +
			"web.oidc_issuer")
	case proxy && provider:
		return usage.Errorf("web.proxy_header and web.oidc_issuer are set: leave one of them out")
	case !proxy && len(w.ProxyAddresses) > 0:
		return usage.Errorf("web.proxy_addresses is set, and web.proxy_header is not; name the header field that the proxy sets")
	case proxy && len(w.ProxyAddresses) == 0:
		return usage.Errorf("web.proxy_header is set, and web.proxy_addresses is not; name the addresses of the proxy")
	case !provider && (w.OIDCClientID != "" || w.OIDCSecret != ""):
		return usage.Errorf("web.oidc_client_id or web.oidc_client_secret is set, and web.oidc_issuer is not; name the provider")
	case provider && w.OIDCClientID == "":
		return usage.Errorf("web.oidc_issuer is set, and web.oidc_client_id is not; register postroomd there")
	case proxy || provider:
		return s.checkPeople()
	}
	return nil
}

// checkPeople returns an error if nobody could use the page, or somebody could never approve.
func (s *Environment) checkPeople() error {
	w := s.Config.Web
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || w.URL == "":
		return usage.Errorf("web.proxy_header or web.oidc_issuer is set, and web.url is not; write the address of the page, " +
			"such as https://mail.example.org")
	case access.IsLoopback(u.Hostname()):
		return usage.Errorf("web.url is %s, where the address of the log signs in; write a name that people reach", w.URL)
	case u.Scheme != "https" && w.OIDCIssuer != "":
		return usage.Errorf("web.url is %s, and a sign-in at a provider needs https", w.URL)
	case len(w.People) == 0:
		return usage.Errorf("web.people is empty, so that nobody may use the page at web.url; " +
			"name yourself, as in people = [\"ada@example.org=own\"]")
	}
	people, err := access.ParsePeople(w.People)
	if err != nil {
		return err
	}
	approvers := s.Config.Policy.Approvers
	for _, text := range w.People {
		address, _, _ := strings.Cut(text, "=")
		p, _ := people.Of(address)
		if len(approvers) > 0 && p.Role >= access.Approve && !slices.Contains(approvers, p.Name) {
			return usage.Errorf("web.people lets %[1]s approve, and policy.approvers does not have that name; add %[1]q to "+
				"policy.approvers, or leave policy.approvers empty", p.Name)
		}
	}
	return nil
}
