package calendar

import (
	"strings"

	ics "github.com/arran4/golang-ical"
)

const (
	maxLine       = 32 << 10 // bytes of an unfolded line; the rest is cut off
	maxParameters = 100      // of one property, approximately
	maxDepth      = 8        // of components within components
	maxProperties = 50_000   // of one calendar
)

// A component is the content between BEGIN and END (RFC 5545, section 3.6).
type component struct {
	name       string // in upper case
	properties []property
	children   []*component
}

// A property is one content line (RFC 5545, section 3.1).
type property struct {
	name  string // in upper case
	value string // of a text: without its escapes
	// parameters have names in upper case.
	parameters map[string][]string
}

// parameter returns the first value of a parameter.
func (p property) parameter(name string) string {
	if values := p.parameters[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func (c *component) property(name string) (property, bool) {
	for _, p := range c.properties {
		if p.name == name {
			return p, true
		}
	}
	return property{}, false
}

// text returns the value of the first property of the name without surrounding blanks; empty if there is none.
func (c *component) text(name string) string {
	p, _ := c.property(name)
	return strings.TrimSpace(p.value)
}

// parseComponents returns the calendars of a text.
//
// QUIRK: lines that are not properties, components that do not end, and text around the calendar occur. Such lines
// are left out, and the end of a component ends those within it, as does the beginning of another calendar, or of an
// event within an event. Sample: broken-lines.
func parseComponents(text string) []*component {
	var found, stack []*component
	properties := 0
	for line := range unfolded(text) {
		p, ok := parseProperty(line)
		if !ok {
			continue
		}
		kind := strings.ToUpper(strings.TrimSpace(p.value))
		if p.name == "BEGIN" && len(stack) > 0 && kind == "VCALENDAR" {
			found, stack = append(found, stack[0]), nil
		}
		switch {
		case p.name == "BEGIN" && (len(stack) > 0 || kind == "VCALENDAR"):
			if kind == "VEVENT" && len(stack) > 1 && stack[len(stack)-1].name == kind {
				stack = stack[:len(stack)-1]
			}
			stack = append(stack, begin(stack, kind))
		case p.name == "END" && len(stack) > 0:
			if kind == "VCALENDAR" {
				found, stack = append(found, stack[0]), nil
				continue
			}
			stack = ended(stack, kind)
		case len(stack) > 0 && properties < maxProperties:
			properties++
			top := stack[len(stack)-1]
			top.properties = append(top.properties, p)
		}
	}
	if len(stack) > 0 {
		found = append(found, stack[0])
	}
	return found
}

func begin(stack []*component, kind string) *component {
	c := &component{name: kind}
	if len(stack) > 0 && len(stack) < maxDepth {
		parent := stack[len(stack)-1]
		parent.children = append(parent.children, c)
	}
	return c
}

// ended removes the innermost component of the name, and those within it, from the stack. It never removes the
// calendar.
func ended(stack []*component, kind string) []*component {
	for i := len(stack) - 1; i > max(0, len(stack)-maxDepth-1); i-- {
		if stack[i].name == kind {
			return stack[:i]
		}
	}
	if len(stack) > maxDepth {
		return stack[:len(stack)-1]
	}
	return stack
}

// unfolded yields the lines of the text, each joined with its continuations (RFC 5545, section 3.1).
func unfolded(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var line strings.Builder
		for raw := range strings.Lines(text) {
			raw = strings.TrimRight(raw, "\r\n")
			if raw != "" && (raw[0] == ' ' || raw[0] == '\t') && line.Len() > 0 {
				raw = raw[1:]
			} else {
				if line.Len() > 0 && !yield(line.String()) {
					return
				}
				line.Reset()
			}
			line.WriteString(raw[:min(len(raw), maxLine-line.Len())])
		}
		if line.Len() > 0 {
			yield(line.String())
		}
	}
}

// parseProperty reads one line with the iCalendar library, which takes more than linear time for many parameters.
func parseProperty(line string) (property, bool) {
	if separators(line) > maxParameters {
		return property{}, false
	}
	parsed, err := ics.ParseProperty(ics.ContentLine(strings.ToValidUTF8(line, "\uFFFD")))
	if err != nil || parsed == nil {
		return property{}, false
	}
	p := property{name: strings.ToUpper(parsed.IANAToken), value: clean(parsed.Value), parameters: map[string][]string{}}
	for name, values := range parsed.ICalParameters {
		for i := range values {
			values[i] = clean(values[i])
		}
		p.parameters[strings.ToUpper(name)] = values
	}
	return p, true
}

func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// separators counts the possible separators of parameters before a property's value.
func separators(line string) int {
	n, quoted := 0, false
	for i := range len(line) {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ':':
			return n
		case c == ';' || c == ',':
			n++
		}
	}
	return n
}
