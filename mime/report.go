package mime

import (
	"bytes"
	"slices"
	"time"
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
	maxReport       = 1 << 20 // bytes
	maxReportFields = 10_000
	maxReportGroups = 2000
)

// ParseHeaders reads groups of fields separated by blank lines, as in reports (RFC 3464, section 2.1). A line that is
// not a field continues the one before it. It reads the first 1 MiB, 10,000 fields and 2,000 groups.
func ParseHeaders(content []byte) []Header {
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
			if n++; n > maxReportFields || len(groups) > maxReportGroups {
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

// Leaf returns the first part of one of the content types; nil if there is none.
func (m *Message) Leaf(types ...string) (found *Part) {
	m.walk(func(p *Part) bool {
		if slices.Contains(types, p.ContentType) {
			found = p
		}
		return found == nil
	})
	return found
}

// Returned reads the header of the message that a report is about (RFC 6522, section 3), from the whole message or
// from its header alone. It returns nil if the report has neither.
func (m *Message) Returned() Header {
	p := m.Leaf("message/rfc822", "message/global", "text/rfc822-headers", "message/rfc822-headers",
		"message/global-headers")
	switch {
	case p == nil:
		return nil
	case p.Message != nil:
		return p.Message.Header
	}
	if groups := ParseHeaders(p.Content); len(groups) > 0 {
		return groups[0]
	}
	return nil
}

func dateField(h Header, name string) time.Time {
	date, _ := ParseDate(h.Raw(name))
	return date
}
