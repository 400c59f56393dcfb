package sieve

import (
	"cmp"
	"errors"
	"fmt"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/lists"
	"github.com/postroom-go/postroom/rules/internal/translate"
	"slices"
	"strconv"
	"strings"
)

// headerNames returns those that a header field can have, and whether that is all of them. RFC 5228, section 2.4.2.2,
// has a field of another name be absent.
func headerNames(names []string) (possible []string, all bool) {
	for _, name := range names {
		if name != "" && rules.CheckHeader("header", name) == nil {
			possible = append(possible, name)
		}
	}
	return possible, len(possible) == len(names)
}

func (m *match) headerCondition(headers, values []string) (rules.Condition, error) {
	headers, _ = headerNames(headers)
	if len(headers) == 0 && m.count == "" {
		return never(), nil
	}
	anything := m.match == rules.Contains && slices.Contains(values, "") || m.match == rules.Wildcard &&
		slices.Contains(values, "*")
	if anything && !m.compares() && m.index == 0 {
		return translate.Joined(rules.Or, present(headers)), nil
	}
	c := rules.Condition{Type: rules.Header, Fields: headers, Index: m.index}
	if len(headers) == 1 {
		c.Header, c.Fields = headers[0], nil
	}
	switch {
	case m.count != "" && m.index != 0:
		if len(headers) != 1 {
			return c, errors.New("with an index, one field is counted")
		}
		c.Match, c.Value = rules.Regex, `\A`
		return m.oneOrNone(c, values)
	case m.count != "":
		c.Type, c.Index = rules.HeaderCount, 0
		return compareEach(c, m.count, values)
	case m.compares():
		return m.ordered(c, rules.HeaderOrder, rules.HeaderDigits, values)
	}
	return m.texts(c, values)
}

// compares reports whether texts are compared by their order or as numbers.
func (m *match) compares() bool { return m.count != "" || m.value != "" || m.numeric }

// oneOrNone compares a count that is 1 where the condition is true, and 0 where it is not.
func (m *match) oneOrNone(some rules.Condition, values []string) (rules.Condition, error) {
	var holds [2]bool
	for n := range holds {
		for _, value := range values {
			if rules.DigitsOf(value) != value {
				return some, fmt.Errorf("a count is compared with %q", value)
			}
			ok, err := satisfied(m.count, rules.CompareNumerals(strconv.Itoa(n), value))
			if err != nil {
				return some, err
			}
			holds[n] = holds[n] || ok
		}
	}
	switch holds {
	case [2]bool{true, true}:
		return always(), nil
	case [2]bool{true, false}:
		return rules.NoneOf(some), nil
	case [2]bool{false, true}:
		return some, nil
	}
	return never(), nil
}

// ordered compares as numbers, or by the order of characters. Nothing but equality is defined for numbers without
// :value.
func (m *match) ordered(c rules.Condition, order, digits rules.Kind, values []string) (rules.Condition, error) {
	compare := m.value
	if compare == "" {
		compare = rules.Equal
		if m.match != rules.Is {
			return c, fmt.Errorf(":%s has no meaning for numbers", m.match)
		}
	}
	if m.numeric {
		c.Type = digits
		return compareEach(c, compare, lists.Texts(values, rules.DigitsOf))
	}
	list := make([]rules.Condition, len(values))
	for i, value := range values {
		if list[i] = c; value == "" {
			list[i] = orderedByNothing(c, compare)
			continue
		}
		list[i].Type, list[i].CaseSensitive, list[i].Compare, list[i].Value = order, m.exact, compare, value
	}
	if len(list) == 0 {
		return c, errors.New("there is nothing to compare with")
	}
	return translate.Joined(rules.Or, list), nil
}

// orderedByNothing compares with the empty text, which is the least of all and no value of a condition.
func orderedByNothing(c rules.Condition, compare rules.Compare) rules.Condition {
	c.Match = rules.Regex
	switch compare {
	case rules.GreaterOrEqual:
		c.Value = `\A`
	case rules.Greater, rules.NotEqual:
		c.Value = `(?s)\A.`
	case rules.Less:
		return never()
	default:
		c.Value = `\A\z`
	}
	return c
}

// compareEach compares with one value, or with any of several.
func compareEach(c rules.Condition, compare rules.Compare, values []string) (rules.Condition, error) {
	list := make([]rules.Condition, len(values))
	for i, value := range values {
		list[i] = c
		list[i].Compare, list[i].Value = compare, value
	}
	if len(list) == 0 {
		return c, errors.New("there is nothing to compare with")
	}
	return translate.Joined(rules.Or, list), nil
}

// addressCondition compares addresses of header fields, or of the envelope, whose fields have the prefix.
func (m *match) addressCondition(headers, values []string, prefix string) (rules.Condition, error) {
	fields := make([]string, len(headers))
	for i, name := range headers {
		fields[i] = prefix + strings.ReplaceAll(strings.ToLower(name), "-", "_")
		ok := rules.IsAddressField(fields[i])
		if !ok || fields[i] == "recipients" || strings.Contains(name, "_") || prefix == "" &&
			strings.HasPrefix(fields[i], "envelope_") {
			return rules.Condition{}, fmt.Errorf("the addresses of %s have no condition", strconv.Quote(name))
		}
	}
	if prefix != "" && m.index != 0 {
		return rules.Condition{}, errors.New("an envelope has no index")
	}
	if prefix != "" && m.count == "" && slices.Contains(fields, "envelope_from") &&
		(len(values) > 1 || len(fields) > 1) && slices.Contains(values, "") {
		return m.eachOfEnvelope(headers, values)
	}
	if prefix != "" && slices.Contains(values, "") && fields[0] == "envelope_from" && m.count == "" {
		return m.emptyEnvelope()
	}
	c := rules.Condition{Type: rules.Address, Fields: fields, Index: m.index}
	if m.count != "" {
		c.Type = rules.AddressCount
		return compareEach(c, m.count, values)
	}
	c.Part = m.part
	if m.compares() {
		return m.ordered(c, rules.AddressOrder, rules.AddressDigits, values)
	}
	return m.texts(c, values)
}

// eachOfEnvelope compares each field with each value by itself, since the empty sender is no address.
func (m *match) eachOfEnvelope(headers, values []string) (rules.Condition, error) {
	var list []rules.Condition
	for _, header := range headers {
		for _, value := range values {
			one, err := m.addressCondition([]string{header}, []string{value}, "envelope_")
			if err != nil {
				return one, err
			}
			list = append(list, one)
		}
	}
	return translate.Joined(rules.Or, list), nil
}

// emptyEnvelope compares the sender of the envelope with the empty text, which is the null sender <> of reports,
// whatever the part.
func (m *match) emptyEnvelope() (rules.Condition, error) {
	if m.compares() || m.match == rules.Regex {
		return rules.Condition{}, errors.New("a comparison of this envelope with the empty text has no condition")
	}
	if m.match == rules.Contains {
		return rules.Condition{Type: rules.HeaderPresent, Header: "Return-Path"}, nil
	}
	return rules.Condition{Type: rules.Header, Header: "Return-Path", Index: 1, Match: rules.Regex,
		Value: `\A\s*<\s*>\s*\z`}, nil
}

// dateWidths are the parts of a date that are numbers, and their digits; a year after 9999 and a day after 2132 have
// more.
var dateWidths = map[string]int{
	"year": 4, "month": 2, "day": 2, "julian": 5, "hour": 2, "minute": 2, "second": 2, "weekday": 1,
}

func (m *match) dateCondition(c rules.Condition, part string, values []string) (rules.Condition, error) {
	c.Part, c.Zone = strings.ToLower(part), m.zone
	if c.Zone == "" && part != "zone" {
		// RFC 5260 uses the zone of the server that runs the script, which is unknown here.
		c.Zone = "UTC"
	}
	if !rules.IsDatePart(c.Part) {
		return c, fmt.Errorf("%q is no part of a date", part)
	}
	switch {
	case m.count != "" && c.Type == rules.Now:
		return m.oneOrNone(always(), values)
	case m.count != "":
		return compareEach(rules.Condition{Type: rules.DateCount, Header: c.Header, Index: c.Index}, m.count, values)
	case m.compares():
		return m.orderedDate(c, values)
	}
	return m.dateTexts(c, values)
}

// dateTexts compares a part of a date as text. A condition accepts 9 for 09 and mon for 1, which Sieve does not.
func (m *match) dateTexts(c rules.Condition, values []string) (rules.Condition, error) {
	as := *m
	as.exact = m.exact && (c.Part == "std11" || c.Part == "iso8601") // the others have no letters
	if m.match != rules.Is || len(values) == 0 {
		return as.texts(c, values)
	}
	possible := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return rules.DatePartValue(c.Part, v) != v })
	if len(possible) == 0 {
		return never(), nil
	}
	return as.texts(c, possible)
}

// orderedDate compares parts of one width as texts, and those that are numbers as such.
func (m *match) orderedDate(c rules.Condition, values []string) (rules.Condition, error) {
	if m.value == "" && m.match != rules.Is {
		return c, fmt.Errorf(":%s has no meaning for numbers", m.match)
	}
	width := dateWidths[c.Part]
	for _, value := range values {
		switch {
		case width == 0 && (m.numeric || c.Part == "zone"):
			return c, fmt.Errorf("the %s of a date is not compared so", c.Part)
		case width > 0 && rules.DigitsOf(value) != value, width > 0 && !m.numeric && len(value) != width:
			return c, fmt.Errorf("the %s of a date is not compared with %q", c.Part, value)
		}
	}
	return compareEach(c, cmp.Or(m.value, rules.Equal), values)
}
