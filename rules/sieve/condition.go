package sieve

import (
	"errors"
	"fmt"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/lists"
	"github.com/postroom-go/postroom/rules/internal/translate"
	"slices"
	"strings"
)

// always matches all mail, and never none.
func always() rules.Condition {
	return rules.Condition{Type: rules.RecipientCount, Compare: rules.GreaterOrEqual, Value: "0"}
}
func never() rules.Condition { return rules.NoneOf(always()) }

// A match is how a test compares: match-type, comparator, index and zone.
type match struct {
	match   rules.Match
	count   rules.Compare // of :count
	value   rules.Compare // of :value
	numeric bool
	exact   bool // i;octet
	part    string
	index   int
	zone    string
	raw     bool // of the body
	args    [][]string
}

// takesText are the tags with a string behind them, and takesNumber those with a number.
var (
	takesText   = []string{"comparator", "count", "value", "zone", "content"}
	takesNumber = []string{"index"}
)

// matching reads the tagged arguments of a test.
func (c *command) matching() (match, error) {
	m := match{match: rules.Is}
	used := map[int]bool{}
	for _, tag := range c.tags {
		text := ""
		if slices.Contains(takesText, tag.name) {
			if tag.args >= len(c.args) || len(c.args[tag.args]) != 1 {
				return m, fmt.Errorf(":%s has no string behind it", tag.name)
			}
			text = c.args[tag.args][0]
			used[tag.args] = true
		}
		if slices.Contains(takesNumber, tag.name) {
			if tag.nums >= len(c.nums) {
				return m, fmt.Errorf(":%s has no number behind it", tag.name)
			}
			m.index = int(c.nums[tag.nums])
		}
		if err := m.take(tag.name, text); err != nil {
			return m, err
		}
	}
	for i, args := range c.args {
		if !used[i] {
			m.args = append(m.args, args)
		}
	}
	for _, tag := range c.tags {
		if tag.name == "last" {
			m.index = -m.index
		}
	}
	for _, list := range m.args {
		if slices.ContainsFunc(list, hasVariable) {
			return m, errors.New("variables have no condition")
		}
	}
	return m, nil
}

func (m *match) take(tag, text string) error {
	switch tag {
	case "is", "contains":
		m.match = rules.Match(tag)
	case "matches":
		m.match = rules.Wildcard
	case "regex":
		m.match = rules.Regex
	case "count":
		m.count = rules.Compare(strings.ToLower(text))
	case "value":
		m.value = rules.Compare(strings.ToLower(text))
	case "comparator":
		switch text {
		case "i;ascii-casemap", "i;unicode-casemap":
		case "i;octet":
			m.exact = true
		case "i;ascii-numeric":
			m.numeric = true
		default:
			return fmt.Errorf("the comparator %q has no condition", text)
		}
	case "all":
		m.part = ""
	case "localpart":
		m.part = rules.PartLocal
	case "domain", "user", "detail":
		m.part = tag
	case "zone":
		m.zone = text
	case "originalzone":
		m.zone = "original"
	case "raw", "content":
		m.raw = true
	case "index", "last", "text", "over", "under":
	default:
		return fmt.Errorf(":%s has no condition", tag)
	}
	return nil
}

// conditionOf translates a test.
func conditionOf(c *command) (rules.Condition, error) {
	switch c.name {
	case "true":
		return always(), nil
	case "false":
		return never(), nil
	case "not":
		if len(c.tests) != 1 {
			return rules.Condition{}, errors.New("not takes one test")
		}
		inner, err := conditionOf(&c.tests[0])
		return rules.NoneOf(inner), err
	case "allof", "anyof":
		if len(c.tests) == 0 {
			return rules.Condition{}, fmt.Errorf("%s has no tests", c.name)
		}
		list := make([]rules.Condition, len(c.tests))
		for i := range c.tests {
			var err error
			if list[i], err = conditionOf(&c.tests[i]); err != nil {
				return rules.Condition{}, err
			}
		}
		return translate.Joined(map[string]rules.Op{"allof": rules.And, "anyof": rules.Or}[c.name], list), nil
	}
	m, err := c.matching()
	if err != nil {
		return rules.Condition{}, fmt.Errorf("test %s: %w", c.name, err)
	}
	condition, err := m.predicate(c)
	if err == nil {
		err = condition.Validate()
	}
	if err != nil {
		return rules.Condition{}, fmt.Errorf("test %s: %w", c.name, err)
	}
	return condition, nil
}

func (m *match) predicate(c *command) (rules.Condition, error) {
	switch c.name {
	case "size":
		return c.sizeCondition()
	case "exists":
		if len(m.args) == 1 && len(m.args[0]) > 0 {
			if _, all := headerNames(m.args[0]); !all {
				return never(), nil
			}
			return translate.Joined(rules.And, present(m.args[0])), nil
		}
	case "header":
		if len(m.args) == 2 {
			return m.headerCondition(m.args[0], m.args[1])
		}
	case "string":
		if len(m.args) == 2 {
			return m.constant(m.args[0], m.args[1])
		}
	case "address":
		if len(m.args) == 2 {
			return m.addressCondition(m.args[0], m.args[1], "")
		}
	case "envelope":
		if len(m.args) == 2 {
			return m.addressCondition(m.args[0], m.args[1], "envelope_")
		}
	case "body":
		if len(m.args) == 1 && !m.raw && m.count == "" && m.value == "" {
			return m.texts(rules.Condition{Type: rules.Body}, m.args[0])
		}
	case "date":
		if len(m.args) == 3 && len(m.args[0]) == 1 && len(m.args[1]) == 1 {
			return m.dateCondition(rules.Condition{Type: rules.DateOf, Header: m.args[0][0], Index: m.index},
				m.args[1][0], m.args[2])
		}
	case "currentdate":
		if len(m.args) == 2 && len(m.args[0]) == 1 {
			return m.dateCondition(rules.Condition{Type: rules.Now}, m.args[0][0], m.args[1])
		}
	}
	return rules.Condition{}, errors.New("it has no condition")
}

func (c *command) sizeCondition() (rules.Condition, error) {
	if len(c.tags) != 1 || len(c.nums) != 1 {
		return rules.Condition{}, errors.New("it takes :over or :under, and a number")
	}
	kind := map[string]rules.Kind{"over": rules.LargerThan, "under": rules.SmallerThan}[c.tags[0].name]
	return rules.Condition{Type: kind, Value: translate.SizeText(c.nums[0])}, nil
}

func present(headers []string) []rules.Condition {
	list := make([]rules.Condition, len(headers))
	for i, name := range headers {
		list[i] = rules.Condition{Type: rules.HeaderPresent, Header: name}
	}
	return list
}

// texts compares with texts. The empty text, which everything contains, is no value of a condition, but a regular
// expression is.
func (m *match) texts(c rules.Condition, values []string) (rules.Condition, error) {
	if len(values) == 0 {
		return c, errors.New("there is nothing to compare with")
	}
	if !slices.Contains(values, "") {
		return m.someTexts(c, values)
	}
	if c.Type == rules.Body {
		return c, errors.New("a comparison of the body with the empty text has no condition")
	}
	list := []rules.Condition{c}
	list[0].Match, list[0].Value = rules.Regex, `\A\z`
	if m.match == rules.Contains || m.match == rules.Regex {
		list[0].Value = `\A` // it is there, whatever it is
	}
	if rest := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" }); len(rest) > 0 {
		other, err := m.someTexts(c, rest)
		if err != nil {
			return c, err
		}
		list = append(list, other)
	}
	return translate.Joined(rules.Or, list), nil
}

// someTexts compares with texts that are not empty.
func (m *match) someTexts(c rules.Condition, values []string) (rules.Condition, error) {
	if m.match != rules.Is || c.Type == rules.Body {
		c.Match = m.match
	}
	c.CaseSensitive = m.exact && m.match != rules.Regex
	if m.match == rules.Regex && !m.exact {
		values = lists.Texts(values, func(v string) string { return "(?i)" + v })
	}
	if m.match == rules.Regex && c.Type == rules.Body { // the dot of POSIX takes the end of a line, too
		values = lists.Texts(values, func(v string) string { return "(?s)" + v })
	}
	return translate.WithValues(c, values), nil
}
