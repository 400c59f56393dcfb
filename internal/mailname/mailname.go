// Package mailname compares addresses and domains of mail in one form: without regard to the case of ASCII, and international domains
// as the ASCII that DNS has (RFC 5890, A-labels).
package mailname

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxLabel is more than the bytes that the 63 of a label can have before they are ASCII. The cost of punycode grows with the square
// of them.
const maxLabel = 256

// Domain is a domain in the form in which domains are compared. Labels that are no international ones, such as the * of a wildcard, stay
// as they are but for the case of ASCII.
func Domain(domain string) string { return lower(ASCII(domain)) }

// Address is an address in the form in which addresses are compared: with the [Domain] behind its last @. Without one it has none.
func Address(address string) string { return lower(ASCIIAddress(address)) }

// ASCII is a domain with its international labels in ASCII.
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

// ASCIIAddress is an address with the domain behind its last @ in ASCII.
func ASCIIAddress(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 || isASCII(address[at+1:]) {
		return address
	}
	return address[:at+1] + ASCII(address[at+1:])
}

// asciiLabel keeps a label that only looks like one in ASCII, such as one with a Kelvin sign (U+212A) for a k: it would pass for that.
func asciiLabel(label string) string {
	if isASCII(label) || len(label) > maxLabel || !utf8.ValidString(label) {
		return label
	}
	if ascii, err := idna.Lookup.ToASCII(label); err == nil && strings.HasPrefix(ascii, "xn--") {
		return ascii
	}
	return label
}

// isDot knows the dots between labels (UTS 46, section 2.3).
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
		b := []byte(s) // not by characters: bytes that are no UTF-8 would all become the same
		for ; i < len(b); i++ {
			if isUpper(b[i]) {
				b[i] += 'a' - 'A'
			}
		}
		return string(b)
	}
	return s
}
