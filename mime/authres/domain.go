package authres

import (
	"strings"

	"golang.org/x/net/idna"
)

// OrganizationalDomain returns the registered domain, in lower case and with IDN as ASCII: a public suffix of the
// public suffix list, preceded by one label. For a public suffix, or a name under none, it returns the name itself.
// The argument may be an address.
func OrganizationalDomain(domain string) string {
	domain = asciiDomain(domain)
	if registered, ok := registeredDomain(domain); ok {
		return registered
	}
	return domain
}

// maxDomain is more bytes than the 253 of a domain (RFC 1035, section 2.3.4) can have before conversion to ASCII. The
// cost of punycode grows with their square.
const maxDomain = 1000

// asciiDomain returns the domain, which may be given as an address, in the form in which domains are compared.
func asciiDomain(s string) string {
	s = strings.Trim(s[strings.LastIndexByte(s, '@')+1:], " \t.<>")
	if len(s) > maxDomain {
		return strings.ToLower(s)
	}
	if ascii, err := idna.Lookup.ToASCII(s); err == nil {
		return ascii
	}
	return strings.ToLower(s)
}
