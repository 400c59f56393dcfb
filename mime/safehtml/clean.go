package safehtml

import (
	"errors"
	"html"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	tokens "golang.org/x/net/html"
)

// Policy is the Content-Security-Policy of a document that has nothing but a result of [Clean] and its own style: it
// loads nothing, runs nothing, and only a page of its own host may show it in a frame. Links open a window.
const Policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; " +
	"frame-ancestors 'self'; sandbox " + Sandbox

// Sandbox is the value of the sandbox attribute of its frame. A window that a link opens is as any other.
const Sandbox = "allow-popups allow-popups-to-escape-sandbox"

// MaxDepth is how deep elements are nested in a result. The tags of deeper ones are left out, and their text is kept.
const MaxDepth = 200

// MaxSource is how much of a source is read, in bytes.
const MaxSource = 8 << 20

// Bounds of a result, in bytes, where [Options] have no other.
const (
	DefaultMaxBytes        = 512 << 10
	DefaultMaxPictureBytes = 1 << 20
)

const (
	// maxSteps bounds how many open elements are looked at, for all tags together: each tag may look at MaxDepth of them.
	maxSteps = 8 << 20
	// smallTag is the size of a tag, in bytes, that a tokenizer may have read and go on. It keeps the names of the
	// attributes of the largest one in a map, which it clears at each tag.
	smallTag = 1 << 10
)

// Options are those of [Clean]. The zero Options use the defaults.
type Options struct {
	// Picture returns the content of the part that a cid: address names (RFC 2392), by its Content-ID without angle
	// brackets; nil if there is none. Default nil: pictures in parts are not shown.
	Picture func(contentID string) []byte
	// MaxBytes bounds the result without its pictures; end tags of open elements may exceed it by some kilobytes. 0 means
	// [DefaultMaxBytes].
	MaxBytes int
	// MaxPictureBytes bounds all pictures of the result together, as they are before they are encoded. 0 means
	// [DefaultMaxPictureBytes]; a negative number shows none.
	MaxPictureBytes int
}

// A Page is the result of [Clean].
type Page struct {
	// HTML is a fragment for the body of a document.
	HTML string
	// NotLoaded counts the pictures that are not shown: those of other hosts, and what is no small picture.
	NotLoaded int
	// Cut reports that the HTML ends before the source does: the source is longer than MaxSource or MaxBytes allows, or
	// too costly to read.
	Cut bool
}

// Clean returns what is safe to show of the HTML of a mail. A nil *Options uses the defaults.
func Clean(source string, o *Options) Page {
	c := &cleaner{source: cutText(source, MaxSource)}
	if o != nil {
		c.Options = *o
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.MaxPictureBytes == 0 {
		c.MaxPictureBytes = DefaultMaxPictureBytes
	}
	c.tokenize()
	for !c.page.Cut && c.next() {
	}
	c.page.Cut = c.page.Cut || len(source) > MaxSource
	for len(c.open) > 0 {
		c.pop()
	}
	c.page.HTML = c.out.String()
	return c.page
}

// A cleaner is under way in a source.
type cleaner struct {
	Options
	source string // what z has not read yet
	z      *tokens.Tokenizer
	large  bool // z has read a tag that is larger than smallTag
	steps  int  // see maxSteps
	out    strings.Builder
	page   Page

	open     []element
	tables   int    // of the open elements
	link     *link  // the open one: none stands within another
	pictures int    // bytes of those that are shown, before they are encoded
	pixels   int64  // of those
	encoded  int    // bytes of out that are pictures
	dropText bool   // the next text is that of a script or the like
	foreign  string // svg or math while within one
}

// An element is open.
type element struct {
	name  string
	start string // its start tag, to open it again
	link  *link  // of an a
}

// tokenize begins to read the rest of the source.
func (c *cleaner) tokenize() {
	c.large = false
	c.z = tokens.NewTokenizer(strings.NewReader(c.source))
	c.z.SetMaxBuf(max(DefaultMaxPictureBytes, c.MaxBytes, 2*c.MaxPictureBytes) + 64<<10)
}

// next reads a tag or a text; false at the end.
func (c *cleaner) next() bool {
	kind := c.z.Next()
	size := len(c.z.Raw())
	c.source = c.source[size:]
	dropped := c.dropText
	c.dropText = false
	switch kind {
	case tokens.ErrorToken:
		c.page.Cut = !errors.Is(c.z.Err(), io.EOF)
		return false
	case tokens.TextToken:
		if !dropped && c.foreign == "" {
			c.text(string(c.z.Text()))
		}
	case tokens.StartTagToken, tokens.SelfClosingTagToken:
		name, more := c.z.TagName()
		c.large = size > smallTag && string(name) != "plaintext" // which has no end
		c.startTag(string(name), more, kind == tokens.SelfClosingTagToken)
	case tokens.EndTagToken:
		name, _ := c.z.TagName()
		if c.foreign == string(name) {
			c.foreign = ""
		}
		c.end(string(name))
	}
	if c.large && !c.dropText {
		c.tokenize()
	}
	c.page.Cut = c.page.Cut || c.steps > maxSteps
	return true
}

func (c *cleaner) startTag(name string, more, closed bool) {
	if name == "noscript" {
		c.z.NextIsNotRawText() // where no script runs, it is shown
		return
	}
	c.dropText = rawText[name]
	if (name == "svg" || name == "math") && !closed {
		c.foreign = name
	}
	from := name
	if from == "body" {
		name = "div" // which has its colors
	}
	kind, allowed := elements[name]
	if !allowed || c.foreign != "" && inForeign[name] {
		return
	}
	c.foreign = "" // HTML breaks out of it
	attributes := c.attributes(more)
	if from == "body" {
		attributes.pageColors()
	}
	switch {
	case name == "img":
		c.image(attributes)
	case kind == empty:
		c.imply(name)
		c.write("<" + name + attributes.kept() + ">")
	default:
		c.begin(name, attributes)
	}
}

// begin opens an element that has an end.
func (c *cleaner) begin(name string, attributes attributes) {
	if elements[name] == ofTable && c.tables == 0 {
		return
	}
	c.imply(name)
	e := element{name: name, start: "<" + name + attributes.kept() + ">"}
	if name == "a" {
		if e.link = newLink(attributes["href"]); e.link == nil {
			return
		}
		e.start = e.link.start(attributes)
	}
	c.push(e)
}

func (c *cleaner) push(e element) {
	if c.link != nil && e.link == nil {
		e.start = "<" + e.name + ">" // what a style hides, or moves, would part the text that is compared with the host
	}
	if len(c.open) >= MaxDepth || e.link != nil && c.link != nil || !c.write(e.start) {
		return
	}
	switch e.name {
	case "table":
		c.tables++
	case "a":
		c.link = e.link
	}
	c.open = append(c.open, e)
}

// pop closes the innermost element.
func (c *cleaner) pop() {
	e := c.open[len(c.open)-1]
	c.open = c.open[:len(c.open)-1]
	switch e.name {
	case "table":
		c.tables--
	case "a":
		c.out.WriteString(e.link.note())
		c.link = nil
	}
	c.out.WriteString("</" + e.name + ">")
}

// end closes the innermost element of the name.
func (c *cleaner) end(name string) {
	if at := c.find(name); at >= 0 {
		c.endAt(at)
	}
}

// endAt closes an open element, with what is within it. Formats go on behind it, and everything does behind the end of
// a format.
func (c *cleaner) endAt(at int) {
	name := c.open[at].name
	within := slices.Clone(c.open[at+1:])
	for len(c.open) > at {
		c.pop()
	}
	if elements[name] == ofTable {
		return
	}
	for _, e := range within {
		if elements[e.name] == ofTable || e.name == "table" {
			return // what begins in a cell ends there
		}
		if elements[name] == format || elements[e.name] == format {
			c.push(e)
		}
	}
}

// find returns the place of the element that an end tag closes; -1 if there is none. What is outside of a table is not
// closed from within.
func (c *cleaner) find(name string) int {
	for i, e := range slices.Backward(c.open) {
		c.steps++
		switch at := e.name; {
		case at == name:
			return i
		case at == "table", slices.Contains(cells, at) && elements[name] != ofTable && name != "table":
			return -1
		}
	}
	return -1
}

// imply closes what ends where an element begins.
func (c *cleaner) imply(name string) {
	rules := implied[name]
	if elements[name] == block || name == "hr" {
		rules = append(slices.Clip(rules), endsParagraph)
	}
	for _, rule := range rules {
		for i := len(c.open) - 1; i >= 0; i-- {
			c.steps++
			at := c.open[i].name
			if slices.Contains(rule.ends, at) {
				c.endAt(i)
				i = len(c.open)
			} else if slices.Contains(rule.within, at) {
				break
			}
		}
	}
}

// text writes text, for people and for the links that it is of.
func (c *cleaner) text(s string) {
	room := c.room()
	if len(s) > room {
		s = cutText(s, room)
		c.page.Cut = true
	}
	s = strings.Map(readable, strings.ToValidUTF8(s, "\ufffd"))
	if c.link != nil {
		c.link.add(s)
	}
	escaped := html.EscapeString(s)
	if len(escaped) > room {
		const longest = len("&#34;") // of what one byte becomes
		escaped = html.EscapeString(cutText(s, room/longest))
		c.page.Cut = true
	}
	c.out.WriteString(escaped)
}

// write writes what the cleaner has made, if there is room for it.
func (c *cleaner) write(s string) bool {
	if len(s) > c.room() {
		c.page.Cut = true
		return false
	}
	c.out.WriteString(s)
	return true
}

func (c *cleaner) room() int { return max(0, c.MaxBytes-(c.out.Len()-c.encoded)) }

// cutText returns at most n bytes of s, in whole characters.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// readable leaves out control characters, and those that turn the direction of text around.
func readable(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r < 0x20, r >= 0x7f && r < 0xa0, r == '\u202d', r == '\u202e':
		return -1
	}
	return r
}
