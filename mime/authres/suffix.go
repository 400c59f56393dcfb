package authres

import (
	_ "embed"
	"net/netip"
	"strings"
)

// suffixes are the rules of the public suffix list (https://publicsuffix.org/list), sorted, one a line. "*." stands
// for any label, and "!" marks a name that is not a suffix although a rule with "*." says so.
//
// The list is that of golang.org/x/net/publicsuffix, which itself would bring net/http and its cookies.
//
//go:generate go run suffixgen.go
//go:embed suffixes.txt
var suffixes string

// registeredDomain returns the public suffix of a domain with one more label. The domain is in lower case and in
// ASCII. It returns false for a public suffix, and for what is no domain.
func registeredDomain(domain string) (string, bool) {
	if domain == "" || domain[0] == '.' || domain[len(domain)-1] == '.' || strings.Contains(domain, "..") {
		return "", false
	}
	suffix := publicSuffix(domain)
	if len(suffix) == len(domain) {
		return "", false
	}
	rest := domain[:len(domain)-len(suffix)-1]
	return domain[strings.LastIndexByte(rest, '.')+1:], true
}

// publicSuffix returns the part of a domain below which domains are registered. Among the rules that match, an
// exception counts, and otherwise the longest. If none matches, it is the last label.
func publicSuffix(domain string) string {
	if _, err := netip.ParseAddr(domain); err == nil {
		return domain
	}
	for name := domain; ; {
		dot := strings.IndexByte(name, '.')
		switch parent := name[dot+1:]; {
		case hasRule("!", name):
			return parent
		case hasRule("", name), dot >= 0 && hasRule("*.", parent), dot < 0:
			return name
		default:
			name = parent
		}
	}
}

// hasRule reports whether the list has the rule that the prefix and the name make together.
func hasRule(prefix, name string) bool {
	low, high := 0, len(suffixes)
	for low < high {
		middle := low + (high-low)/2
		begin := strings.LastIndexByte(suffixes[low:middle], '\n') + 1 + low
		rule := suffixes[begin : begin+strings.IndexByte(suffixes[begin:], '\n')]
		switch order := compareRule(rule, prefix, name); {
		case order == 0:
			return true
		case order < 0:
			low = begin + len(rule) + 1
		default:
			high = begin
		}
	}
	return false
}

// compareRule compares a rule with the prefix and the name together, without making one string of them.
func compareRule(rule, prefix, name string) int {
	n := min(len(rule), len(prefix))
	if order := strings.Compare(rule[:n], prefix); order != 0 {
		return order
	}
	return strings.Compare(rule[n:], name)
}
