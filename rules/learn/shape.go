package learn

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var digits = regexp.MustCompile(`\d+(?:[.,:/-]\d+)*`)

const (
	maxShape     = 120 // bytes of a subject that has a shape
	fewestInWord = 6   // letters of a shape: fewer say nothing
)

// shapeOf returns a subject with # for each number, in lower case, as in "invoice # of #/#"; empty if it is too long
// or has too few letters to tell one kind of mail from another. A subject that has a # of its own has no shape.
func shapeOf(subject string) string {
	subject = strings.ToLower(strings.TrimSpace(subject))
	if len(subject) > maxShape || strings.Contains(subject, "#") || !utf8.ValidString(subject) {
		return ""
	}
	letters := 0
	for _, r := range subject {
		switch {
		case unicode.IsLetter(r):
			letters++
		case !unicode.IsPrint(r):
			return ""
		}
	}
	if letters < fewestInWord {
		return ""
	}
	return digits.ReplaceAllLiteralString(subject, "#")
}

// shapePattern returns the regular expression of the subjects of a shape.
func shapePattern(shape string) string {
	parts := strings.Split(shape, "#")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return `(?i)^\s*` + strings.Join(parts, `\d+(?:[.,:/-]\d+)*`) + `\s*$`
}
