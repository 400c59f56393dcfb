// Package yamlscalar writes texts as scalars of YAML.
package yamlscalar

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Format formats a text on one line, with quotes if any version of YAML would read something else without them.
func Format(text string, within bool) string {
	switch {
	case strings.ContainsFunc(text, MustEscape):
		return doubleQuoted(text)
	case plainText(text, within):
		return text
	default:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
}

// MustEscape reports whether a character is invisible or misleading.
func MustEscape(r rune) bool { return r == unicode.ReplacementChar || r != ' ' && !unicode.IsPrint(r) }

// notText are the words that some version of YAML does not read as text.
var notText = []string{"null", "~", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "="}

var (
	likeNumber = regexp.MustCompile(`^[-+.]*[0-9.][0-9a-fA-FxXoOeE_.,:+-]*$|(?i)^[-+]?\.(inf|nan)$`)
	likeDate   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	plainForm  = regexp.MustCompile(`^[\pL\pN_/.+<][^\\]*$`)
)

// plainText reports whether a text without characters that must be escaped reads the same without quotes.
func plainText(text string, within bool) bool {
	switch {
	case !plainForm.MatchString(text), strings.HasSuffix(text, " "), strings.HasSuffix(text, ":"),
		strings.HasPrefix(text, "..."):
		return false
	case strings.Contains(text, ": "), strings.Contains(text, " #"):
		return false
	case within && strings.ContainsAny(text, ",[]{}:'\"#"):
		return false
	case slices.Contains(notText, strings.ToLower(text)):
		return false
	}
	return likeDate.MatchString(text) || !likeNumber.MatchString(text)
}

func doubleQuoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case MustEscape(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case MustEscape(r) && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		case MustEscape(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
