package rulesfile

import (
	"cmp"
	"github.com/postroom-go/postroom/rules/internal/lists"
	"github.com/postroom-go/postroom/rules/internal/yamlscalar"
	"slices"
	"strings"
	"unicode/utf8"
)

// formatWidth is the maximum length of a line whose content could be spread over several.
const formatWidth = 120

// arrange brings the keys into their order, and the comments to places where they can be written.
func (n *docNode) arrange(s *shape) {
	n.block = s != nil && s.block && len(n.entries) > 0
	if s != nil && n.kind == docMapping {
		slices.SortStableFunc(n.entries, func(a, b *docEntry) int { return s.rank(a.key) - s.rank(b.key) })
	}
	for _, e := range n.entries {
		e.value.arrange(s.of(e.key))
		n.block = n.block || e.value.block
		e.hoist()
		switch apart := s != nil && s.apart; {
		case apart && len(e.head) > 0:
			e.head[0].blank = true
		case apart:
			e.blank = true
		}
	}
	n.block = n.block || len(n.entries) > 0 && n.hasComments()
}

// rank is the place of a key among those of the shape; unknown keys follow.
func (s *shape) rank(key string) int {
	if i := slices.Index(s.keys, key); i >= 0 {
		return i
	}
	return len(s.keys)
}

// hoist moves comments that would have no line of their own: those alone within brackets, and those before the first
// entry of a collection that begins on the line of the entry.
func (e *docEntry) hoist() {
	v := e.value
	if len(v.entries) == 0 {
		e.addHead(v.foot)
		v.foot = nil
		return
	}
	if e.of.kind != docList || !v.block {
		return
	}
	if e.tail != "" {
		e.addHead([]docComment{{text: e.tail}})
		e.tail = ""
	}
	e.addHead(v.entries[0].head)
	v.entries[0].head = nil
}

// addHead puts comments before the entry, below those that are there.
func (e *docEntry) addHead(list []docComment) {
	if len(list) == 0 {
		return
	}
	list[0].blank = e.blank || list[0].blank && len(e.head) > 0
	e.head, e.blank = append(e.head, list...), false
}

// A docWriter writes a tree.
type docWriter struct {
	b     strings.Builder
	begun string // the part of the line written so far: the dashes of lists
}

func (n *docNode) format(preamble []docComment) []byte {
	w := &docWriter{}
	if len(preamble) > 0 {
		w.comments(preamble, 0, true)
		w.b.WriteByte('\n')
	}
	if len(n.entries) > 0 {
		w.collection(n, 0)
	} else {
		w.comments(n.foot, 0, true)
		w.line(0, n.oneLine(false))
	}
	return []byte(w.b.String())
}

func (w *docWriter) line(indent int, text string) {
	if w.begun == "" {
		w.begun = strings.Repeat(" ", indent)
	}
	w.b.WriteString(strings.TrimRight(w.begun+text, " ") + "\n")
	w.begun = ""
}

func (w *docWriter) comments(list []docComment, indent int, first bool) {
	for i, c := range list {
		if c.blank && (i > 0 || !first) {
			w.b.WriteByte('\n')
		}
		w.line(indent, c.text)
	}
}

// collection writes a mapping or a list with each entry on lines of its own.
func (w *docWriter) collection(n *docNode, indent int) {
	for i, e := range n.entries {
		w.comments(e.head, indent, i == 0)
		if e.blank && (i > 0 || len(e.head) > 0) {
			w.b.WriteByte('\n')
		}
		w.entry(e, indent)
	}
	w.comments(n.foot, indent, false)
}

func (w *docWriter) entry(e *docEntry, indent int) {
	v, prefix := e.value, "-"
	if e.of.kind == docMapping {
		prefix = yamlscalar.Format(e.key, false) + ":"
	}
	if v.kind == docText && e.of.kind == docMapping {
		if style, list := textLines(e.key, v.text, indent); list != nil {
			w.line(indent, prefix+" "+style+behind(e.tail))
			for _, text := range list {
				w.line(indent+2, text)
			}
			return
		}
	}
	one := prefix + " " + v.oneLine(false)
	if len(v.entries) == 0 || !v.block && indent+utf8.RuneCountInString(one) <= formatWidth {
		w.line(indent, one+behind(e.tail))
		return
	}
	if e.of.kind == docMapping {
		w.line(indent, prefix+behind(e.tail))
	} else {
		w.begun = cmp.Or(w.begun, strings.Repeat(" ", indent)) + "- "
	}
	w.collection(v, indent+2)
}

func behind(comment string) string {
	if comment == "" {
		return ""
	}
	return "  " + comment
}

// oneLine is the value on one line; within brackets, texts are quoted that hold their punctuation.
func (n *docNode) oneLine(within bool) string {
	switch n.kind {
	case docText:
		return yamlscalar.Format(n.text, within)
	case docPlain:
		return n.text
	case docMapping:
		return "{" + strings.Join(lists.Texts(n.entries, func(e *docEntry) string {
			return yamlscalar.Format(e.key, true) + ": " + e.value.oneLine(true)
		}), ", ") + "}"
	default:
		return "[" + strings.Join(lists.Texts(n.entries, func(e *docEntry) string {
			return e.value.oneLine(true)
		}), ", ") + "]"
	}
}
