package rulesfile

import (
	"strings"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// A docComment is a comment of a file, with its #.
type docComment struct {
	text   string
	at     position
	behind bool // it follows other text on its line
	blank  bool // a blank line stands before it
}

// comments returns the comments of the file in their order. The tree of the parser drops some, the tokens hold all.
func (s *source) comments() []docComment {
	var found []docComment
	for _, t := range lexer.Tokenize(strings.Join(s.lines, "\n")) {
		if t.Type != token.CommentType {
			continue
		}
		at := tokenPosition(t)
		found = append(found, docComment{
			text: "#" + strings.TrimRight(t.Value, " \t\r"), at: at,
			behind: s.somethingBefore(at), blank: s.blankBefore(at.line),
		})
	}
	return found
}

func (s *source) somethingBefore(at position) bool {
	line := []rune(s.lines[min(at.line, len(s.lines))-1])
	return strings.TrimSpace(string(line[:min(max(at.column-1, 0), len(line))])) != ""
}

func (s *source) blankBefore(line int) bool {
	return line > 1 && line-1 <= len(s.lines) && strings.TrimSpace(s.lines[line-2]) == ""
}

func (p position) before(other position) bool {
	return p.line < other.line || p.line == other.line && p.column < other.column
}

// attach gives each comment to the entry before or behind which it is written, or to the collection that it ends.
func (n *docNode) attach(comments []docComment) {
	entries := n.all(nil)
	for _, c := range comments {
		i := 0
		for i < len(entries) && entries[i].at.before(c.at) {
			i++
		}
		var before, after *docEntry
		if i > 0 {
			before = entries[i-1]
		}
		if i < len(entries) {
			after = entries[i]
		}
		n.place(c, before, after)
	}
}

// all returns the entries in the order of the file.
func (n *docNode) all(list []*docEntry) []*docEntry {
	for _, e := range n.entries {
		list = append(list, e)
		list = e.value.all(list)
	}
	return list
}

func (n *docNode) place(c docComment, before, after *docEntry) {
	if open := openFlow(before, c.at); open != nil && !c.behind {
		if after != nil && after.within(open) {
			after.head = append(after.head, c)
		} else {
			open.foot = append(open.foot, c)
		}
		return
	}
	if c.behind && before != nil {
		e := before
		for e.of.flow && e.of.end.before(c.at) && e.of.owner != nil {
			e = e.of.owner
		}
		e.addTail(c)
		return
	}
	if after != nil && (c.at.column <= after.at.column || before == nil || after.of.owner == before) {
		after.head = append(after.head, c)
		return
	}
	end := n.blockAt(before, c.at.column)
	if after != nil && after.within(end) {
		after.head = append(after.head, c)
		return
	}
	end.foot = append(end.foot, c)
}

// addTail puts a comment behind the entry, or before it if there is one already.
func (e *docEntry) addTail(c docComment) {
	if e.tail == "" {
		e.tail = c.text
		return
	}
	e.addHead([]docComment{c})
}

// openFlow returns the innermost list or mapping in brackets that is open at a place, the entry being the last one
// before it.
func openFlow(e *docEntry, at position) *docNode {
	if e == nil {
		return nil
	}
	for n := e.value; n != nil; n = parentOf(n) {
		if n.flow && at.before(n.end) {
			return n
		}
	}
	return nil
}

func parentOf(n *docNode) *docNode {
	if n.owner == nil {
		return nil
	}
	return n.owner.of
}

// blockAt returns the innermost collection whose entries begin in the column or before it, from an entry outwards.
func (n *docNode) blockAt(e *docEntry, column int) *docNode {
	for e != nil {
		if !e.of.flow && e.at.column <= column {
			return e.of
		}
		e = e.of.owner
	}
	return n
}

func (e *docEntry) within(n *docNode) bool {
	for of := e.of; of != nil; of = parentOf(of) {
		if of == n {
			return true
		}
	}
	return false
}

// hasComments reports whether there is a comment within the value.
func (n *docNode) hasComments() bool {
	for _, e := range n.entries {
		if len(e.head) > 0 || e.tail != "" || e.value.hasComments() {
			return true
		}
	}
	return len(n.foot) > 0
}
