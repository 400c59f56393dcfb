package fieldvalue

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Typed cuts the type off a value, as in "dns; mx.example.com" and "rfc822; ada@example.com" (RFC 3464, section
// 2.1.2).
//
// QUIRK: the type may be missing. Sample: bounce-ses.
func Typed(s string) (kind, value string) {
	kind, value, found := strings.Cut(s, ";")
	if !found || strings.ContainsAny(strings.TrimSpace(kind), " \t") {
		return "", strings.TrimSpace(s)
	}
	return strings.ToLower(strings.TrimSpace(kind)), strings.TrimSpace(value)
}

// TypedAddress reads an address with its type. An address of the type utf-8 spells characters as \x{C4} (RFC 6533,
// section 3).
func TypedAddress(s string) string {
	kind, value := Typed(s)
	value = strings.Trim(uncommentAddress(value), "<> \t")
	if kind == "utf-8" {
		value = unicodeEscape.ReplaceAllStringFunc(value, func(escape string) string {
			n, err := strconv.ParseUint(escape[3:len(escape)-1], 16, 32)
			if err != nil || n < ' ' || !utf8.ValidRune(rune(n)) {
				return escape
			}
			return string(rune(n))
		})
	}
	return OneLine(value)
}

var unicodeEscape = regexp.MustCompile(`\\x\{[0-9A-Fa-f]{2,6}\}`)

// uncommentAddress returns the text before a comment.
func uncommentAddress(s string) string {
	if i := strings.Index(s, " ("); i > 0 {
		return s[:i]
	}
	return s
}
