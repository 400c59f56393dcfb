package rules

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/postroom-go/postroom/rules/internal/prefilter"
)

// A Match says how the texts of a message are compared with the values of a predicate.
type Match string

// The matches.
const (
	Is       Match = "is"       // the whole text is the value
	Contains Match = "contains" // the value is in the text
	Wildcard Match = "wildcard" // the whole text; * stands for any characters, ? for one, and \ escapes the next one
	Regex    Match = "regex"    // the regular expression matches in the text
)

func matchNames() []string {
	return []string{string(Is), string(Contains), string(Wildcard), string(Regex)}
}

// A matcher compares a text with one or many values.
type matcher struct {
	how    Match
	folded bool // values, and the texts to compare, are in the form in which case does not count
	values []string

	exact    map[string]bool   // of Is
	patterns []*regexp.Regexp  // of Regex
	many     *prefilter.Finder // of Contains with many values, none of which is blank
}

// manyValues is the number from which on values are looked for in one pass.
const manyValues = 8

func newMatcher(how Match, values []string, folded bool) *matcher {
	m := &matcher{how: how, folded: folded, values: values}
	switch how {
	case Is:
		m.exact = make(map[string]bool, len(values))
		for _, value := range values {
			m.exact[value] = true
		}
	case Contains:
		if len(values) >= manyValues {
			m.many = prefilter.NewFinder(values)
		}
	case Wildcard, Regex: // each value is tried
	}
	return m
}

// in reports whether one of the values matches the text.
func (m *matcher) in(text string) bool {
	switch {
	case m.how == Is:
		return m.exact[text]
	case m.many != nil:
		return m.anyOfMany(text)
	case m.how == Contains:
		for _, value := range m.values {
			if strings.Contains(text, value) {
				return true
			}
		}
	case m.how == Wildcard:
		for _, value := range m.values {
			if WildcardMatches(value, text) {
				return true
			}
		}
	default:
		for _, re := range m.patterns {
			if re.MatchString(text) {
				return true
			}
		}
	}
	return false
}

func (m *matcher) anyOfMany(text string) bool {
	return m.many.Any(text, func(value int32) bool { return strings.Contains(text, m.values[value]) })
}

// WildcardMatches reports whether the whole text matches the pattern. It backtracks to the last * only, so that its
// time is bounded by the product of the lengths.
func WildcardMatches(pattern, text string) bool {
	p, t := 0, 0
	star, mark := -1, 0
	for t < len(text) {
		_, size := utf8.DecodeRuneInString(text[t:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && pattern[p] == '?':
			p, t = p+1, t+size
		case p < len(pattern) && literalAt(pattern, &p, text[t:t+size]):
			t += size
		case star >= 0:
			_, size = utf8.DecodeRuneInString(text[mark:])
			mark += size
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// literalAt advances p over a character of the pattern that is the given one.
func literalAt(pattern string, p *int, character string) bool {
	at := *p
	if pattern[at] == '\\' && at+1 < len(pattern) {
		at++
	}
	if !strings.HasPrefix(pattern[at:], character) {
		return false
	}
	*p = at + len(character)
	return true
}
