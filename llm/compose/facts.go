package compose

import (
	"regexp"
	"strings"
)

// fact matches what a model must not invent: links, addresses of mail, and numbers of two and more digits with what
// separates their groups. A fact in a mark of the model's own is left as it is.
var fact = regexp.MustCompile(`(?i)\[check:[^\]]*\]|https?://[^\s<>"]+|www\.[^\s<>"]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|` +
	`\d(?:[\d.,:'/ -]*\d)+`)

// mark marks the facts of a text that are not known.
func mark(text, known string) string {
	lower := strings.ToLower(known)
	have := make(map[string]bool)
	for _, f := range fact.FindAllString(known, -1) {
		have[digitsOf(f)] = true
	}
	return fact.ReplaceAllStringFunc(text, func(f string) string {
		tail := ""
		if trimmed := strings.TrimRight(f, ".,;:!?)'"); trimmed != f {
			f, tail = trimmed, f[len(trimmed):]
		}
		switch {
		case strings.HasPrefix(strings.ToLower(f), "[check:"), strings.Contains(lower, strings.ToLower(f)):
			return f + tail
		case isNumber(f) && have[digitsOf(f)]:
			return f + tail
		}
		return "[check: " + f + "]" + tail
	})
}

func isNumber(f string) bool { return strings.Trim(f, "0123456789.,:'/ -") == "" }

// cents are decimals that say nothing.
var cents = regexp.MustCompile(`[.,]00?$`)

// digitsOf returns a number without what separates its groups, and without decimals that are zero.
func digitsOf(f string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, cents.ReplaceAllString(f, ""))
}
