package prefilter

import "math/bits"

// A trigger is what the index looks for to find a rule: in every message that matches it, one of the keys or literals is in the
// texts of its source, or a source is not empty, or one of the atoms is true. The rule of a zero trigger has to be tried with
// every message.
type trigger struct {
	cost     int // estimated from how often it is found, for how many rules, and its price; 0 for the zero trigger
	keys     []sourceText
	literals []sourceText
	present  []int32
	atoms    []int32
}

// A sourceText is a text to be found in a source: a whole text in the form in which case does not count, or a literal in its
// normal form.
type sourceText struct {
	source int32
	text   string
}

// The costs, from the best trigger to the worst. Twice as many rules that are found by the same, or twice as many messages in which
// it is found, are one costDoubled more.
const (
	costKey     = 1
	costLiteral = 10 // of longLiteral bytes or more
	costBody    = 20 // additional cost of a literal in the body, which has to be read
	costPresent = 40
	costShared  = 60
	costAtom    = 200

	costDoubled = 4
	longLiteral = 8 // a literal of one byte less is taken to be in twice as many messages
)

func (t *trigger) isZero() bool { return t.cost == 0 }

// either joins the triggers of alternatives.
func (t *trigger) either(other *trigger) {
	t.cost = max(t.cost, other.cost)
	t.keys = append(t.keys, other.keys...)
	t.literals = append(t.literals, other.literals...)
	t.present = append(t.present, other.present...)
	t.atoms = append(t.atoms, other.atoms...)
}

// A census counts the rules of a set that a needle could find. A needle that many rules have in common, such as the word "order",
// does not distinguish them, and is likely to be in many messages as well.
type census map[needle]tally

type tally struct {
	rules int32
	last  int32 // the last rule counted
}

func takeCensus(clues []Clue) census {
	c := census{}
	for i := range clues {
		rule := int32(i)
		clues[i].eachNeedle(func(n needle) {
			if t := c[n]; t.rules == 0 || t.last != rule {
				c[n] = tally{t.rules + 1, rule}
			}
		})
	}
	return c
}

// triggers chooses the trigger of each rule.
func triggers(clues []Clue, sources []Source) []trigger {
	c := chooser{takeCensus(clues), sources}
	chosen := make([]trigger, len(clues))
	for i := range clues {
		chosen[i] = c.choose(&clues[i])
	}
	return chosen
}

// A chooser chooses triggers.
type chooser struct {
	census  census
	sources []Source
}

// choose returns the best trigger that a clue predicates open.
func (c *chooser) choose(from *Clue) trigger {
	var chosen trigger
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
	case aKey:
		chosen.keys = []sourceText{text}
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
	case aKey:
		if c.sources[n.id] == Shared {
			return costShared + shared
		}
		return costKey + shared
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
