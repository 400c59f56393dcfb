package config

import (
	"net/textproto"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/web/access"
)

// webSettings are the settings of the page.
var webSettings = []setting{
	{"web.url", "", `"https://mail.example.org"`, func(c *Config) any { return &c.Web.URL },
		func(c *Config) string { return siteAddress(c.Web.URL) }},
	{"web.people", "", `["ada@example.org=own", "bob@example.org=approve bob@example.org"]`,
		func(c *Config) any { return &c.Web.People }, func(c *Config) string { return people(c.Web.People) }},
	{"web.proxy_header", "", `"X-Forwarded-Email"`, func(c *Config) any { return &c.Web.ProxyHeader },
		func(c *Config) string { return fieldName(c.Web.ProxyHeader) }},
	{"web.proxy_addresses", "", `["127.0.0.1"]`, func(c *Config) any { return &c.Web.ProxyAddresses },
		func(c *Config) string { return networks(c.Web.ProxyAddresses) }},
	{"web.oidc_issuer", "", `"https://accounts.google.com"`, func(c *Config) any { return &c.Web.OIDCIssuer },
		func(c *Config) string { return webAddress(c.Web.OIDCIssuer) }},
	{"web.oidc_client_id", "", `"postroom"`, func(c *Config) any { return &c.Web.OIDCClientID }, nil},
	{"web.oidc_client_secret", "", `"env:POSTROOM_OIDC_SECRET"`, func(c *Config) any { return &c.Web.OIDCSecret }, nil},
}

// siteAddress refuses paths: the pages are at the root of a host.
func siteAddress(s string) string {
	if fault := webAddress(s); fault != "" {
		return fault
	}
	if s != "" && strings.Count(strings.TrimSuffix(s, "/"), "/") > 2 {
		return "an address without a path: the page is at the root of its host"
	}
	return ""
}

func people(list []string) string {
	if _, err := access.ParsePeople(list); err != nil {
		return "mail addresses, each once, with see, approve or own, and the mailboxes if these are not all (" +
			err.Error() + ")"
	}
	return ""
}

func networks(list []string) string {
	if _, err := access.ParsePrefixes(list); err != nil {
		return "IP addresses, and networks such as \"10.0.0.0/8\" (" + err.Error() + ")"
	}
	return ""
}

// fieldName refuses what is no name of a header field.
func fieldName(s string) string {
	for _, r := range s {
		if r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return "the name of a header field, such as " + textproto.CanonicalMIMEHeaderKey("x-forwarded-email")
		}
	}
	return ""
}
