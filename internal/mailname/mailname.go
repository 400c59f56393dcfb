// Package mailname normalizes addresses and domains of mail for comparison: without regard to the case of ASCII, and
// with international domains in their ASCII form of DNS (RFC 5890, A-labels).
package mailname

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxLabel is more bytes than the 63 of a label can have before conversion to ASCII. The cost of punycode grows with
// their square.
const maxLabel = 256

// Domain returns a domain in the form for comparison. Labels that are not international, such as the * of a wildcard,
// are unchanged except for the case of ASCII.
func Domain(domain string) string { return lower(ASCII(domain)) }

// Address returns an address in the form for comparison, with the [Domain] after its last @. Without an @ it has no
// domain.
func Address(address string) string { return lower(ASCIIAddress(address)) }

// ASCII returns a domain with its international labels in ASCII.
func ASCII(domain string) string {
	if isASCII(domain) {
		return domain
	}
	labels := strings.FieldsFunc(domain, isDot)
	if len(labels) != strings.Count(strings.Map(dot, domain), ".")+1 { // one of them is empty
		return domain
	}
	for i, label := range labels {
		labels[i] = asciiLabel(label)
	}
	return strings.Join(labels, ".")
}

// ASCIIAddress returns an address with the domain after its last @ in ASCII.
func ASCIIAddress(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 || isASCII(address[at+1:]) {
		return address
	}
	return address[:at+1] + ASCII(address[at+1:])
}

// asciiLabel does not convert a label that only looks like ASCII, such as one with a Kelvin sign (U+212A) in place of
// a k: it would equal the ASCII one.
func asciiLabel(label string) string {
	if isASCII(label) || len(label) > maxLabel || !utf8.ValidString(label) {
		return label
	}
	if ascii, err := idna.Lookup.ToASCII(label); err == nil && strings.HasPrefix(ascii, "xn--") {
		return ascii
	}
	return label
}

// isDot reports whether a character is a dot between labels (UTS 46, section 2.3).
func isDot(r rune) bool { return r == '.' || r == '。' || r == '．' || r == '｡' }

func dot(r rune) rune {
	if isDot(r) {
		return '.'
	}
	return r
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// lower lowers only A to Z.
func lower(s string) string {
	isUpper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	for i := range len(s) {
		if !isUpper(s[i]) {
			continue
		}
		b := []byte(s) // not by characters: all invalid bytes would become equal
		for ; i < len(b); i++ {
			if isUpper(b[i]) {
				b[i] += 'a' - 'A'
			}
		}
		return string(b)
	}
	return s
}

// Mailbox maps all addresses of one mailbox to the same key.
func Mailbox(email string) string {
	local, domain, _ := strings.Cut(Address(strings.TrimSpace(email)), "@")
	local, _, _ = strings.Cut(strings.ToLower(local), "+")
	if domain == "googlemail.com" || domain == "gmail.com" {
		local, domain = strings.ReplaceAll(local, ".", ""), "gmail.com"
	}
	return local + "@" + domain
}
