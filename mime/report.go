package mime

import (
	"bytes"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Raw returns the first field's raw value; empty if there is none.
func (h Header) Raw(name string) string {
	if f := h.field(name); f != nil {
		return f.Raw()
	}
	return ""
}

// The bounds of reading a report. Fields cost more memory than text.
const (
	maxReport           = 1 << 20 // bytes
	maxReportFields     = 10_000
	maxReportRecipients = 2000
)

// headerGroups reads groups of fields separated by blank lines, as in reports (RFC 3464, section 2.1). A line that is not a field
// continues the one before it.
func headerGroups(content []byte) []Header {
	var groups []Header
	var fields []rawField
	var ignored []Defect
	n := 0
	end := func() {
		if len(fields) > 0 {
			groups = append(groups, decodeHeader(fields, nil, nil, reporter{to: &ignored}))
		}
		fields = nil
	}
	for line := range bytes.Lines(content[:min(len(content), maxReport)]) {
		if len(bytes.TrimSpace(line)) == 0 {
			end()
			continue
		}
		f, isField := cutField(line)
		if isField {
			if n++; n > maxReportFields || len(groups) > maxReportRecipients {
				break
			}
		}
		switch {
		case isField:
			f.value = bytes.Clone(f.value)
			fields = append(fields, f)
		case len(fields) > 0:
			last := &fields[len(fields)-1]
			last.value = append(last.value, line...)
		}
	}
	end()
	return groups
}

// walk calls yield with the parts of the message, but not with those of attached messages, until it returns false.
func (m *Message) walk(yield func(p *Part) bool) {
	if m.Root == nil {
		return
	}
	stack := []*Part{m.Root}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !yield(p) {
			return
		}
		for _, child := range slices.Backward(p.Parts) {
			stack = append(stack, child)
		}
	}
}

// leaf returns the first part of one of the types; nil if there is none.
func (m *Message) leaf(types ...string) (found *Part) {
	m.walk(func(p *Part) bool {
		if slices.Contains(types, p.ContentType) {
			found = p
		}
		return found == nil
	})
	return found
}

// returned reads the header of the message that a report is about (RFC 6522, section 3), from the whole message or from its
// header alone. It returns nil if the report has neither.
func (m *Message) returned() Header {
	p := m.leaf("message/rfc822", "message/global", "text/rfc822-headers", "message/rfc822-headers", "message/global-headers")
	switch {
	case p == nil:
		return nil
	case p.Message != nil:
		return p.Message.Header
	}
	if groups := headerGroups(p.Content); len(groups) > 0 {
		return groups[0]
	}
	return nil
}

// typedValue cuts the type off a value, as in "dns; mx.example.com" and "rfc822; ada@example.com" (RFC 3464, section 2.1.2).
//
// QUIRK: the type may be missing. Sample: bounce-ses.
func typedValue(s string) (kind, value string) {
	kind, value, found := strings.Cut(s, ";")
	if !found || strings.ContainsAny(strings.TrimSpace(kind), " \t") {
		return "", strings.TrimSpace(s)
	}
	return strings.ToLower(strings.TrimSpace(kind)), strings.TrimSpace(value)
}

// typedAddress reads an address with its type. An address of the type utf-8 spells characters as \x{C4} (RFC 6533, section 3).
func typedAddress(s string) string {
	kind, value := typedValue(s)
	value = strings.Trim(uncommentAddress(value), "<> \t")
	if kind == "utf-8" {
		value = unicodeEscape.ReplaceAllStringFunc(value, func(escape string) string {
			n, err := strconv.ParseUint(escape[3:len(escape)-1], 16, 32)
			if err != nil || n < ' ' || !utf8.ValidRune(rune(n)) {
				return escape
			}
			return string(rune(n))
		})
	}
	return fieldvalue.OneLine(value)
}

var unicodeEscape = regexp.MustCompile(`\\x\{[0-9A-Fa-f]{2,6}\}`)

// uncommentAddress returns the text before a comment.
func uncommentAddress(s string) string {
	if i := strings.Index(s, " ("); i > 0 {
		return s[:i]
	}
	return s
}
