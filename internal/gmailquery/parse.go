package gmailquery

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of a query.
const (
	maxTerms   = 400
	maxWords   = 1000 // of all terms; a phrase costs an index the square of its length
	maxDepth   = 50
	maxBetween = 9999 // words of AROUND
)

// ErrTooLong is the only error of a query.
var ErrTooLong = errors.New(
	"gmailquery: the query has more than 400 terms, 1,000 words or 50 brackets inside each other")

// Options are the values that a query may refer to.
type Options struct {
	Now time.Time // for newer_than and older_than
	Me  string    // the address that "me" stands for; empty: "me" is a word
	// Strict also doubts forms of which Gmail does not say what they mean: lists without blanks or OR, NOT, a part of
	// AROUND, and brackets and quotes that are not closed. Otherwise they are words, or end with the query.
	Strict bool
}

// Parse parses a query. Its only error is its length: a bracket or a quote that is not closed ends with the query, an
// unknown operator is treated as words, and a value that an operator does not understand matches nothing.
func Parse(q string, options Options) (Query, error) {
	p := &parser{Options: options, rest: q}
	var all []Node
	for p.rest = strings.TrimSpace(p.rest); p.rest != "" && p.err == nil; p.rest = strings.TrimSpace(p.rest) {
		if p.rest[0] == ')' || p.rest[0] == '}' { // it closes nothing
			p.doubtForm(p.rest[:1])
			p.rest = p.rest[1:]
			continue
		}
		if n := p.sequence(0); n != nil {
			all = append(all, n)
		}
	}
	return Query{Root: allOf(all), Hidden: p.hidden, Doubts: p.doubts}, p.err
}

type parser struct {
	Options
	rest     string
	operator *Operator // of the bracket that is open; nil: none
	negated  bool
	depth    int
	terms    int
	words    int
	hidden   bool
	doubts   []Doubt
	err      error
}

// asksForHidden records that the query asks for spam or trash. A query that excludes them leaves them out like any
// other.
func (p *parser) asksForHidden() { p.hidden = p.hidden || !p.negated }

// count refuses a query with too many terms or words.
func (p *parser) count(seen *int, more, limit int) {
	if *seen += more; *seen > limit {
		p.err = ErrTooLong
	}
}

// allOf joins nodes that must all hold.
func allOf(nodes []Node) Node {
	switch len(nodes) {
	case 0:
		return nil
	case 1:
		return nodes[0]
	default:
		return And(nodes)
	}
}

// anyOf joins nodes of which one must hold.
func anyOf(nodes []Node) Node {
	if len(nodes) < 2 {
		return allOf(nodes)
	}
	return Or(nodes)
}

// sequence reads terms up to their closing bracket; 0 means the end of the query, and any bracket. OR binds more
// tightly than the blank between two terms. In braces every blank is an OR.
func (p *parser) sequence(closing byte) Node {
	var nodes []Node
	joined := false // by OR with the last
	for p.err == nil {
		p.skipBlanks()
		if p.rest == "" || p.rest[0] == ')' || p.rest[0] == '}' {
			break
		}
		if word := p.keyword(); word != "" {
			joined = word == "OR" && len(nodes) > 0
			continue
		}
		n := p.term()
		if n == nil {
			continue
		}
		if joined {
			last := len(nodes) - 1
			if alternatives, ok := nodes[last].(Or); ok {
				n = slices.Concat(alternatives, Or{n})
			} else {
				n = Or{nodes[last], n}
			}
			nodes = nodes[:last]
		}
		nodes = append(nodes, n)
		joined = false
	}
	if closing == '}' {
		return anyOf(nodes)
	}
	return allOf(nodes)
}

func (p *parser) skipBlanks() { p.rest = strings.TrimLeft(p.rest, " \t\r\n\u00a0\u3000") }

// keyword cuts OR or AND off the query. It returns an empty string if there is neither.
func (p *parser) keyword() string {
	for _, word := range []string{"OR", "AND", "|"} {
		after, found := strings.CutPrefix(p.rest, word)
		if found && (after == "" || strings.ContainsAny(after[:1], " \t\r\n(){}\"")) {
			p.rest = after
			return strings.Replace(word, "|", "OR", 1)
		}
	}
	return ""
}

// term reads one term with its prefix, and an AROUND after it. It returns nil if the term has nothing to search for.
func (p *parser) term() Node {
	p.count(&p.terms, 1, maxTerms)
	sign := p.rest[0]
	if sign == '-' || sign == '+' {
		p.rest = p.rest[1:]
		if p.rest == "" || strings.ContainsAny(p.rest[:1], " \t\r\n)}") {
			return nil // a hyphen by itself
		}
	}
	if sign != '-' {
		return p.around(p.operand())
	}
	p.negated = !p.negated
	n := p.around(p.operand())
	p.negated = !p.negated
	if n == nil {
		return nil
	}
	return Not{n}
}

// operand reads a bracket, a quotation, or a word with or without an operator.
func (p *parser) operand() Node {
	switch p.rest[0] {
	case '(':
		return p.bracket(')')
	case '{':
		return p.bracket('}')
	case '"':
		return p.quoted()
	}
	text := p.word()
	name, value, hasColon := strings.Cut(text, ":")
	operator := operatorNamed(name)
	if !hasColon || operator == nil {
		p.doubtWord(text)
		p.doubtList(p.operator, text)
		return p.value(text)
	}
	p.doubtList(operator, value)
	outer := p.operator
	p.operator = operator
	defer func() { p.operator = outer }()
	if value != "" {
		return p.value(value)
	}
	// What the operator is for follows, also after a blank.
	p.skipBlanks()
	if p.count(&p.terms, 1, maxTerms); p.err != nil || p.rest == "" || strings.ContainsAny(p.rest[:1], "-+)}") {
		p.doubt(Doubt{Term: operator.Name + ":", Reason: ofNone, Meant: operator.Example})
		return Never{operator.Name + " of nothing"}
	}
	return p.operand()
}

// value makes a node of a text: as the open operator interprets it, or as words.
func (p *parser) value(text string) Node {
	n := phrase(Anywhere, text)
	if p.operator != nil {
		n = p.operator.read(p, text)
	}
	if _, never := n.(Never); never {
		p.doubtValue(p.operator, text)
	}
	if words, isPhrase := n.(Phrase); isPhrase {
		p.count(&p.words, len(words.Words), maxWords)
	}
	return n
}

func (p *parser) bracket(closing byte) Node {
	p.rest = p.rest[1:]
	p.count(&p.depth, 1, maxDepth)
	if p.err != nil {
		return nil
	}
	n := p.sequence(closing)
	p.depth--
	if p.rest == "" || p.rest[0] != closing {
		p.doubtForm("the open bracket")
	}
	if p.rest != "" {
		p.rest = p.rest[1:]
	}
	return n
}

var quotedAround = regexp.MustCompile(`^(.*\S)\s+AROUND\s+(\d{1,4})\s+(\S.*)$`)

// quoted reads a quotation: a phrase, or two with AROUND between them. QUIRK: Gmail then respects their order; here
// it does not count, since a word index does not know it.
func (p *parser) quoted() Node {
	text, rest, closed := strings.Cut(p.rest[1:], `"`)
	if !closed {
		p.doubtForm("the open quote")
	}
	p.rest = rest
	parts := quotedAround.FindStringSubmatch(text)
	if parts == nil {
		return p.value(text)
	}
	left, isLeft := p.value(parts[1]).(Phrase)
	right, isRight := p.value(parts[3]).(Phrase)
	between, err := strconv.Atoi(parts[2])
	if !isLeft || !isRight || err != nil {
		return p.value(text)
	}
	return Around{Field: left.Field, Left: left.Words, Right: right.Words, Between: between}
}

// word reads up to a blank, a bracket or a quote.
func (p *parser) word() string {
	end := strings.IndexAny(p.rest, " \t\r\n\u00a0\u3000(){}\"")
	if end < 0 {
		end = len(p.rest)
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	return text
}

// around reads "AROUND 5 other" after a phrase.
func (p *parser) around(left Node) Node {
	first, isPhrase := left.(Phrase)
	after, found := strings.CutPrefix(strings.TrimLeft(p.rest, " "), "AROUND ")
	if !isPhrase || !found {
		return left
	}
	number, after, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
	between, err := strconv.Atoi(number)
	after = strings.TrimLeft(after, " ")
	if err != nil || between < 0 || between > maxBetween || after == "" || strings.ContainsAny(after[:1], "(){}-+") {
		return left
	}
	before := p.rest
	p.rest = after
	if second, ok := p.operand().(Phrase); ok && (second.Field == first.Field || second.Field == Anywhere) {
		return Around{Field: first.Field, Left: first.Words, Right: second.Words, Between: between}
	}
	p.rest = before
	return left
}
