package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/suggest"
)

// A Compare says how a number, a date or a text of the message is compared with the value (RFC 5231, section 4.1).
type Compare string

// The comparisons.
const (
	Greater        Compare = "gt"
	GreaterOrEqual Compare = "ge"
	Less           Compare = "lt"
	LessOrEqual    Compare = "le"
	Equal          Compare = "eq"
	NotEqual       Compare = "ne"
)

var comparisons = map[Compare]func(order int) bool{
	Greater:        func(order int) bool { return order > 0 },
	GreaterOrEqual: func(order int) bool { return order >= 0 },
	Less:           func(order int) bool { return order < 0 },
	LessOrEqual:    func(order int) bool { return order <= 0 },
	Equal:          func(order int) bool { return order == 0 },
	NotEqual:       func(order int) bool { return order != 0 },
}

func compareOf(c *Condition) (func(order int) bool, *ConditionError) {
	compare, ok := comparisons[c.Compare]
	if !ok {
		names := []string{"gt", "ge", "lt", "le", "eq", "ne"}
		return nil, badValue("compare", strconv.Quote(string(c.Compare)),
			suggest.Instead(string(c.Compare), names, "the comparisons are"))
	}
	return compare, nil
}

// countPredicate compares a number of the message.
func countPredicate(c *Condition, count func(v *view) int) (predicate, *ConditionError) {
	compare, e := compareOf(c)
	if e != nil {
		return predicate{}, e
	}
	want, err := strconv.Atoi(strings.TrimSpace(c.Value))
	if err != nil {
		return predicate{}, badValue("value", fmt.Sprintf("%q is no whole number", c.Value), "write digits, as in 10")
	}
	return predicate{
		test:    func(v *view) bool { return compare(cmp.Compare(count(v), want)) },
		explain: func(v *view) string { return "it is " + strconv.Itoa(count(v)) },
	}, nil
}

func (k *code) headerIDs(c *Condition) ([]int32, bool, *ConditionError) {
	sources, e := headerSources(c)
	sender := false
	ids := make([]int32, len(sources))
	for i := range sources {
		ids[i] = k.source(sources[i])
		sender = sender || sources[i].isSender()
	}
	return ids, sender, e
}

func compileHeaderCount(k *code, c *Condition) (predicate, *ConditionError) {
	ids, _, e := k.headerIDs(c)
	if e != nil {
		return predicate{}, e
	}
	return countPredicate(c, func(v *view) int {
		n := 0
		for _, id := range ids {
			n += len(v.Texts(id))
		}
		return n
	})
}

// orderedHeader compares each of the header fields.
func (k *code) orderedHeader(c *Condition, order textOrder) (predicate, *ConditionError) {
	ids, sender, e := k.headerIDs(c)
	if e != nil {
		return predicate{}, e
	}
	return orderedPredicate(c, ids, c.Index, sender, order)
}

// orderedAddress compares a part of each of the addresses.
func (k *code) orderedAddress(c *Condition, order textOrder) (predicate, *ConditionError) {
	src, e := addressSourceOf(c)
	if e != nil {
		return predicate{}, e
	}
	return orderedPredicate(c, []int32{k.source(src)}, 0, src.isSender(), order)
}

// A textOrder compares a text with the value of a predicate; false for a text that cannot be compared.
type textOrder func(text string) (int, bool)

func orderedPredicate(c *Condition, ids []int32, index int, sender bool, order textOrder) (predicate, *ConditionError) {
	compare, e := compareOf(c)
	if e != nil {
		return predicate{}, e
	}
	return predicate{
		sender:  sender,
		explain: func(v *view) string { return v.found(ids, index) },
		test: func(v *view) bool {
			return slices.ContainsFunc(ids, func(id int32) bool {
				return slices.ContainsFunc(indexed(v.Texts(id), index), func(text string) bool {
					order, ok := order(text)
					return ok && compare(order)
				})
			})
		},
	}, nil
}

var leadingNumber = regexp.MustCompile(`^\s*([-+]?\d+(?:\.\d+)?)`)

// numberOf reads the number that a text begins with.
func numberOf(text string) (float64, bool) {
	found := leadingNumber.FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(found[1], 64)
	return n, err == nil
}

func compileHeaderNumber(k *code, c *Condition) (predicate, *ConditionError) {
	want, err := strconv.ParseFloat(strings.TrimSpace(c.Value), 64)
	if err != nil || want-want != 0 {
		return predicate{}, badValue("value", fmt.Sprintf("%q is no number", c.Value), "write digits, as in 5.5")
	}
	return k.orderedHeader(c, func(text string) (int, bool) {
		n, ok := numberOf(text)
		return cmp.Compare(n, want), ok
	})
}

func compileHeaderOrder(k *code, c *Condition) (predicate, *ConditionError) {
	return k.orderedHeader(c, orderOfTexts(c))
}

func compileAddressOrder(k *code, c *Condition) (predicate, *ConditionError) {
	return k.orderedAddress(c, orderOfTexts(c))
}

func orderOfTexts(c *Condition) textOrder {
	fold := strings.ToLower
	if c.CaseSensitive {
		fold = func(s string) string { return s }
	}
	want := fold(c.Value)
	return func(text string) (int, bool) { return strings.Compare(fold(text), want), true }
}

func compileHeaderDigits(k *code, c *Condition) (predicate, *ConditionError) {
	if e := digitsFault(c.Value); e != nil {
		return predicate{}, e
	}
	return k.orderedHeader(c, orderOfDigits(c.Value))
}

func compileAddressDigits(k *code, c *Condition) (predicate, *ConditionError) {
	if e := digitsFault(c.Value); e != nil {
		return predicate{}, e
	}
	return k.orderedAddress(c, orderOfDigits(c.Value))
}

func orderOfDigits(value string) textOrder {
	return func(text string) (int, bool) { return CompareNumerals(text, value), true }
}

// noDigits is the value of a text that does not begin with digits.
const noDigits = "none"

func digitsFault(value string) *ConditionError {
	if value == noDigits || DigitsOf(value) == value {
		return nil
	}
	return badValue("value", fmt.Sprintf("%q is not made of digits", value),
		`write digits alone, as in 10, or "none" for texts that begin with none`)
}

// DigitsOf returns the digits that a text begins with, or noDigits.
func DigitsOf(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	return cmp.Or(text[:end], noDigits)
}

func compileLargerThan(_ *code, c *Condition) (predicate, *ConditionError) {
	return sizePredicate(c, func(size, limit int64) bool { return size > limit })
}

// A size of zero is an unknown one.
func compileSmallerThan(_ *code, c *Condition) (predicate, *ConditionError) {
	return sizePredicate(c, func(size, limit int64) bool { return size > 0 && size < limit })
}

func sizePredicate(c *Condition, within func(size, limit int64) bool) (predicate, *ConditionError) {
	limit, err := ParseSize(c.Value)
	if err != nil {
		return predicate{}, badValue("value", err.Error(), SizeHint)
	}
	return predicate{
		test:    func(v *view) bool { return within(v.msg.Size, limit) },
		explain: func(v *view) string { return fmt.Sprintf("it has %d bytes", v.msg.Size) },
	}, nil
}

func compileOlderThan(_ *code, c *Condition) (predicate, *ConditionError) {
	return agePredicate(c, func(age, limit time.Duration) bool { return age > limit })
}

func compileNewerThan(_ *code, c *Condition) (predicate, *ConditionError) {
	return agePredicate(c, func(age, limit time.Duration) bool { return age < limit })
}

func agePredicate(c *Condition, within func(age, limit time.Duration) bool) (predicate, *ConditionError) {
	limit, err := parseAge(c.Value)
	if err != nil {
		return predicate{}, badValue("value", err.Error(), ageHint)
	}
	return predicate{
		test: func(v *view) bool {
			age, known := v.age()
			return known && within(age, limit)
		},
		explain: func(v *view) string {
			age, known := v.age()
			if !known {
				return "when it was received is not known"
			}
			return "it was received " + age.Round(time.Minute).String() + " ago"
		},
	}, nil
}

// CompareNumerals compares as i;ascii-numeric does (RFC 4790, section 9.1): by the digits at the beginning; without
// any, a text is greater than all numbers.
func CompareNumerals(a, b string) int {
	digits := func(s string) (string, bool) {
		end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(s)
		}
		return strings.TrimLeft(s[:end], "0"), end > 0
	}
	x, isX := digits(a)
	y, isY := digits(b)
	switch {
	case !isX && !isY:
		return 0
	case !isX:
		return 1
	case !isY:
		return -1
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
}
