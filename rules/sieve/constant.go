package sieve

import (
	"cmp"
	"errors"
	"fmt"
	"github.com/postroom-go/postroom/rules"
	"regexp"
	"strconv"
	"strings"
)

// constant compares texts that the script itself has (RFC 5229, section 5): the test is always true, or never.
func (m *match) constant(sources, keys []string) (rules.Condition, error) {
	if m.index != 0 || m.part != "" || m.zone != "" || m.raw {
		return rules.Condition{}, errors.New("it takes no such argument")
	}
	if m.count != "" {
		n := 0
		for _, source := range sources {
			if source != "" { // only these are counted
				n++
			}
		}
		sources = []string{strconv.Itoa(n)}
	}
	for _, source := range sources {
		for _, key := range keys {
			if ok, err := m.constantMatches(source, key); ok || err != nil {
				return always(), err
			}
		}
	}
	return never(), nil
}

func (m *match) constantMatches(source, key string) (bool, error) {
	if m.match == rules.Regex && m.count == "" && m.value == "" {
		if !m.exact {
			key = "(?i)" + key
		}
		re, err := regexp.Compile(key)
		return err == nil && re.MatchString(source), err
	}
	if !m.exact {
		source, key = strings.ToLower(source), strings.ToLower(key)
	}
	how := cmp.Or(m.count, m.value)
	switch order := strings.Compare(source, key); {
	case how != "" && (m.numeric || m.count != ""):
		return satisfied(how, rules.CompareNumerals(source, key))
	case how != "":
		return satisfied(how, order)
	case m.numeric:
		return satisfied(rules.Equal, rules.CompareNumerals(source, key))
	case m.match == rules.Contains:
		return strings.Contains(source, key), nil
	case m.match == rules.Wildcard:
		return rules.WildcardMatches(key, source), nil
	default:
		return order == 0, nil
	}
}

// satisfied reports whether an order, as of cmp.Compare, is the one that is asked for.
func satisfied(c rules.Compare, order int) (bool, error) {
	switch c {
	case rules.Greater:
		return order > 0, nil
	case rules.GreaterOrEqual:
		return order >= 0, nil
	case rules.Less:
		return order < 0, nil
	case rules.LessOrEqual:
		return order <= 0, nil
	case rules.Equal:
		return order == 0, nil
	case rules.NotEqual:
		return order != 0, nil
	}
	return false, fmt.Errorf("the comparison %q is none of gt, ge, lt, le, eq and ne", string(c))
}

// variable is the name or the number of a variable (RFC 5229, section 3). Anything else is text.
var variable = regexp.MustCompile(`(?i)\$\{(?:[a-z_][a-z0-9_]*(?:\.[a-z0-9_]+)*|[0-9]+(?:\.[0-9]+)*)\}`)

func hasVariable(text string) bool { return variable.MatchString(text) }
