package htmltext

import (
	"strconv"
	"strings"
)

type pseudoMeaning uint8

const (
	pseudoUnsure  pseudoMeaning = iota // it depends on unread content
	pseudoNever                        // never matches on a page at rest
	pseudoElement                      // a part of an element
	pseudoRoot
	pseudoScope
	pseudoLink
	pseudoEmpty
	pseudoState
	pseudoNth // with brackets
	pseudoPlace
	pseudoLang
	pseudoDir
	pseudoIs
	pseudoWhere
	pseudoNot
	pseudoHas
)

// A pseudo is the test of a pseudo-class.
type pseudo struct {
	meaning pseudoMeaning
	state   byte
	nth     cssNth
}

// The states that depend on the attributes of an element.
const (
	stateChecked byte = iota
	stateDefined
	stateDisabled
	stateEnabled
	stateOpen
	stateOptional
	statePlaceholder
	stateReadOnly
	stateReadWrite
	stateRequired
	stateLeftToRight
	stateRightToLeft
)

var pseudoClasses = func() map[string]pseudo {
	classes := map[string]pseudo{
		"root": {meaning: pseudoRoot}, "scope": {meaning: pseudoScope}, "link": {meaning: pseudoLink},
		"any-link": {meaning: pseudoLink}, "-webkit-any-link": {meaning: pseudoLink}, "empty": {meaning: pseudoEmpty},
		"lang": {meaning: pseudoLang}, "dir": {meaning: pseudoDir},
		"is": {meaning: pseudoIs}, "-webkit-any": {meaning: pseudoIs}, "where": {meaning: pseudoWhere},
		"not": {meaning: pseudoNot}, "has": {meaning: pseudoHas},

		"first-child":      {meaning: pseudoPlace, nth: cssNth{b: 1}},
		"last-child":       {meaning: pseudoPlace, nth: cssNth{b: 1, fromEnd: true}},
		"first-of-type":    {meaning: pseudoPlace, nth: cssNth{b: 1, typed: true}},
		"last-of-type":     {meaning: pseudoPlace, nth: cssNth{b: 1, typed: true, fromEnd: true}},
		"only-child":       {meaning: pseudoPlace, nth: cssNth{b: 1, only: true}},
		"only-of-type":     {meaning: pseudoPlace, nth: cssNth{b: 1, typed: true, only: true}},
		"nth-child":        {meaning: pseudoNth},
		"nth-last-child":   {meaning: pseudoNth, nth: cssNth{fromEnd: true}},
		"nth-of-type":      {meaning: pseudoNth, nth: cssNth{typed: true}},
		"nth-last-of-type": {meaning: pseudoNth, nth: cssNth{typed: true, fromEnd: true}},
	}
	for name, state := range map[string]byte{
		"checked": stateChecked, "defined": stateDefined, "disabled": stateDisabled, "enabled": stateEnabled, "open": stateOpen,
		"optional": stateOptional, "placeholder-shown": statePlaceholder, "read-only": stateReadOnly, "read-write": stateReadWrite,
		"required": stateRequired,
	} {
		classes[name] = pseudo{meaning: pseudoState, state: state}
	}
	for meaning, names := range map[pseudoMeaning]string{
		pseudoNever: "active focus focus-visible focus-within hover target target-within visited autofill -webkit-autofill fullscreen " +
			"-webkit-full-screen modal popover-open user-valid user-invalid playing current past future picture-in-picture local-link",
		pseudoElement: "after before first-letter first-line",
		pseudoUnsure: "valid invalid in-range out-of-range default indeterminate paused muted seeking stalled buffering " +
			"volume-locked host host-context state",
	} {
		for name := range strings.FieldsSeq(names) {
			classes[name] = pseudo{meaning: meaning}
		}
	}
	return classes
}()

var pseudoElements = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq("after before first-letter first-line selection placeholder marker backdrop part slotted cue " +
		"file-selector-button highlight target-text spelling-error grammar-error view-transition details-content") {
		names[name] = true
	}
	return names
}()

// pseudo reads a pseudo-class or a pseudo-element.
func (p *selectorParser) pseudo() bool {
	p.pos++
	isElement := p.pos < len(p.text) && p.text[p.pos] == ':'
	if isElement {
		p.pos++
	}
	name := lowerASCII(p.identifier())
	args, hasArgs := "", false
	if p.pos < len(p.text) && p.text[p.pos] == '(' {
		length := bracketLength(p.text[p.pos:])
		args, hasArgs = strings.TrimSuffix(p.text[p.pos+1:p.pos+length], ")"), true
		p.pos += length
	}
	found, known := pseudoClasses[name]
	if isElement || found.meaning == pseudoElement {
		p.selector.part = elementParts[name]
		p.selector.specificity++
		p.never = p.never || p.selector.part == 0
		p.sheet.hasParts = true
		isKnown := pseudoElements[name] || strings.HasPrefix(name, "-webkit-")
		return isKnown && p.depth == 0
	}
	takesArgs := found.meaning >= pseudoNth && found.meaning != pseudoPlace
	if !known || takesArgs != hasArgs && found.meaning != pseudoUnsure {
		return false
	}
	if found.meaning != pseudoWhere && found.meaning < pseudoIs {
		p.selector.specificity += 1 << 10
	}
	return p.pseudoClass(found, args)
}

// pseudoClass adds the test of a pseudo-class; it reports whether its argument is valid.
func (p *selectorParser) pseudoClass(found pseudo, args string) bool {
	test := cssSimple{kind: simpleUnsure}
	switch found.meaning {
	case pseudoNever:
		p.never = true
		return true
	case pseudoRoot:
		test.kind = simpleRoot
	case pseudoScope: // within other rules, that of @scope
		if p.parent < 0 {
			test.kind = simpleRoot
		}
	case pseudoLink:
		test.kind = simpleLink
	case pseudoEmpty:
		test.kind = simpleEmpty
		p.sheet.asks |= asksAhead
	case pseudoState:
		test.kind, test.op = simpleState, found.state
	case pseudoPlace, pseudoNth:
		return p.nth(found.nth, args, found.meaning == pseudoNth)
	case pseudoLang:
		test.kind, test.value = simpleLang, lowerCSS(strings.Trim(trimCSS(args), `"'`))
	case pseudoDir:
		test.kind, test.op = simpleState, stateLeftToRight
		if lowerCSS(trimCSS(args)) == "rtl" {
			test.op = stateRightToLeft
		}
	case pseudoIs, pseudoWhere, pseudoNot:
		return p.list(found.meaning, args)
	case pseudoHas:
		return p.has(args)
	}
	p.parsed = append(p.parsed, test)
	return true
}

// list reads the argument of :is, :where or :not. The first two ignore invalid selectors.
func (p *selectorParser) list(meaning pseudoMeaning, args string) bool {
	if p.depth == maxSelectorDepth {
		p.parsed = append(p.parsed, cssSimple{kind: simpleUnsure})
		return true
	}
	list, ok := p.sheet.list(args, p, meaning != pseudoNot)
	if !ok {
		return false
	}
	if meaning != pseudoWhere {
		p.selector.specificity += list.specificity
	}
	switch isNot := meaning == pseudoNot; {
	case list.count > 0:
		p.sheet.lists = append(p.sheet.lists, list)
		p.parsed = append(p.parsed, cssSimple{kind: simpleList, n: int32(len(p.sheet.lists) - 1), negated: isNot})
	case !isNot:
		p.never = true
	}
	return true
}

// has reads the argument of :has.
func (p *selectorParser) has(args string) bool {
	if p.relation {
		return false
	}
	n := int32(len(p.sheet.relations))
	if n == maxRelations {
		p.parsed = append(p.parsed, cssSimple{kind: simpleUnsure})
		return true
	}
	inner := selectorParser{sheet: p.sheet, parent: p.parent, depth: p.depth + 1, relation: true}
	list, ok := p.sheet.list(args, &inner, false)
	if !ok {
		return false
	}
	p.sheet.asks |= asksAhead
	p.sheet.relations = append(p.sheet.relations, list)
	p.selector.specificity += list.specificity
	p.parsed = append(p.parsed, cssSimple{kind: simpleHas, n: n})
	return true
}

// A cssNth is a position among siblings: a*n+b for any n >= 0 (CSS Syntax, section 6).
type cssNth struct {
	a, b    int32
	typed   bool // among those of the same name
	fromEnd bool
	only    bool // the first and the last
}

// nth adds the test of a position.
func (p *selectorParser) nth(nth cssNth, args string, hasArgs bool) bool {
	if hasArgs {
		args = lowerCSS(trimCSS(args))
		if place, _, isFiltered := strings.Cut(args, " of "); isFiltered { // not counted
			p.parsed = append(p.parsed, cssSimple{kind: simpleUnsure})
			_, _, ok := parseNth(trimCSS(place))
			return ok
		}
		var ok bool
		if nth.a, nth.b, ok = parseNth(args); !ok {
			return false
		}
	}
	p.sheet.asks |= asksPlace
	if nth.typed {
		p.sheet.asks |= asksTypes
	}
	if nth.fromEnd || nth.only {
		p.sheet.asks |= asksAhead
	}
	n := len(p.sheet.nths) - 1
	if n < 0 || p.sheet.nths[n] != nth { // many selectors ask the same as the one before
		p.sheet.nths = append(p.sheet.nths, nth)
		n++
	}
	p.parsed = append(p.parsed, cssSimple{kind: simpleNth, n: int32(n)})
	return true
}

// parseNth reads odd, even, a number, or a multiple of n and a number.
func parseNth(text string) (a, b int32, ok bool) {
	switch text {
	case "odd":
		return 2, 1, true
	case "even":
		return 2, 0, true
	}
	number := func(s string) (int32, bool) {
		v, err := strconv.Atoi(s)
		return int32(max(-1<<24, min(v, 1<<24))), err == nil
	}
	factor, rest, hasFactor := strings.Cut(text, "n")
	if !hasFactor {
		b, ok = number(text)
		return 0, b, ok
	}
	switch factor {
	case "", "+", "-":
		factor += "1"
	}
	if a, ok = number(factor); !ok {
		return 0, 0, false
	}
	rest = trimCSS(rest)
	if rest == "" {
		return a, 0, true
	}
	sign := rest[:1]
	rest = trimCSS(rest[1:])
	if sign != "+" && sign != "-" || rest == "" || !isDigit(rest[0]) {
		return 0, 0, false
	}
	b, ok = number(sign + rest)
	return a, b, ok
}

// includes reports whether a position matches. Positions from the end are unknown if the place is 0.
func (n *cssNth) includes(at place) truth {
	first, last := at.index, at.fromEnd
	if n.typed {
		first, last = at.typeIndex, at.typeFromEnd
	}
	i := first
	if n.fromEnd {
		i = last
	}
	if i == 0 || n.only && last == 0 {
		return unsure
	}
	if n.only {
		return truthOf(first == 1 && last == 1)
	}
	if n.a == 0 {
		return truthOf(i == n.b)
	}
	return truthOf((i-n.b)%n.a == 0 && (i-n.b)/n.a >= 0)
}
