package prefilter

import "math/bits"

// An indexKey is what the index looks for to find a rule: in every message that matches it, one of the whole
// texts or literals is in the texts of its source, or a source is not empty, or one of the atoms is true. The rule of a
// zero index key has to be tried with every message.
type indexKey struct {
	cost     int // estimated from how often it is found, for how many rules, and its price; 0 for the zero index key
	whole    []sourceText
	literals []sourceText
	present  []int32
	atoms    []int32
}

// A sourceText is a text to be found in a source: a whole text in the form in which case does not count, or a literal
// in its normal form.
type sourceText struct {
	source int32
	text   string
}

// The costs, from the best index key to the worst. Twice as many rules that are found by the same, or twice as many
// messages in which it is found, are one costDoubled more.
const (
	costWhole   = 1
	costLiteral = 10 // of longLiteral bytes or more
	costBody    = 20 // additional cost of a literal in the body, which has to be read
	costPresent = 40
	costShared  = 60
	costAtom    = 200

	costDoubled = 4
	longLiteral = 8 // a literal of one byte less is taken to be in twice as many messages
)

func (t *indexKey) isZero() bool { return t.cost == 0 }

// either joins the index keys of alternatives.
func (t *indexKey) either(other *indexKey) {
	t.cost = max(t.cost, other.cost)
	t.whole = append(t.whole, other.whole...)
	t.literals = append(t.literals, other.literals...)
	t.present = append(t.present, other.present...)
	t.atoms = append(t.atoms, other.atoms...)
}

// A census counts the rules of a set that a needle could find. A needle that many rules have in common, such as the
// word "order", does not distinguish them, and is likely to be in many messages as well.
type census map[needle]tally

type tally struct {
	rules int32
	last  int32 // the last rule counted
}

func takeCensus(keys []Key) census {
	c := census{}
	for i := range keys {
		rule := int32(i)
		keys[i].eachNeedle(func(n needle) {
			if t := c[n]; t.rules == 0 || t.last != rule {
				c[n] = tally{t.rules + 1, rule}
			}
		})
	}
	return c
}

// indexKeys chooses the index key of each rule.
func indexKeys(keys []Key, sources []Source) []indexKey {
	c := chooser{takeCensus(keys), sources}
	chosen := make([]indexKey, len(keys))
	for i := range keys {
		chosen[i] = c.choose(&keys[i])
	}
	return chosen
}

// A chooser chooses index keys.
type chooser struct {
	census  census
	sources []Source
}

// choose returns the best index key of a key.
func (c *chooser) choose(from *Key) indexKey {
	var chosen indexKey
	switch from.op {
	case allOf:
		for i := range from.parts {
			if one := c.choose(&from.parts[i]); chosen.isZero() || one.cost < chosen.cost {
				chosen = one
			}
		}
		return chosen
	case anyOf:
		for i := range from.parts {
			one := c.choose(&from.parts[i])
			chosen.either(&one)
		}
		return chosen
	}
	text := sourceText{from.id, from.text}
	switch from.kind {
	case aWhole:
		chosen.whole = []sourceText{text}
	case aLiteral:
		chosen.literals = []sourceText{text}
	case anyText:
		chosen.present = []int32{from.id}
	case aTrueAtom:
		chosen.atoms = []int32{from.id}
	case noNeedle:
		return chosen
	}
	chosen.cost = c.cost(from.needle)
	return chosen
}

func (c *chooser) cost(n needle) int {
	shared := costDoubled * (bits.Len32(uint32(c.census[n].rules)) - 1)
	switch n.kind {
	case aWhole:
		if c.sources[n.id] == Shared {
			return costShared + shared
		}
		return costWhole + shared
	case aLiteral:
		cost := costLiteral + costDoubled*max(0, longLiteral-len(n.text)) + shared
		if c.sources[n.id] == Body {
			cost += costBody
		}
		return cost
	case anyText:
		return costPresent + shared
	default:
		return costAtom
	}
}
