package mime

import (
	"bytes"
	"slices"
	"strings"
)

// header reads a header section and the blank line after it.
//
// QUIRK: a delimiter ends a header as well: parts that consist of a header are often sent without the blank line. So
// does a line that is not a field, unless a field follows. In that case the line continues the field before it, if
// that ends in a comma or a semicolon; otherwise it is left out, so that no name or subject grows by it. An indented
// first line is a field. A first line that is not a field is left out before a Content- field. Samples:
// delimiter-ends-header, header-not-ended, header-not-folded, header-no-colon, header-indented, part-junk.
func (s *splitter) header(r reporter) []rawField {
	h := headerReader{splitter: s, r: r, fields: s.meter.fields[:0]}
	for s.pos < len(s.src) {
		start := s.pos
		line := s.nextLine()
		_, isDelimiter := s.delimiter(line)
		isDelimiter = isDelimiter || bytes.HasPrefix(line, []byte("--")) && beginsPart(s.peekLine())
		if !isDelimiter && s.endsHeader(line) {
			break
		}
		if isDelimiter || !h.line(line) {
			r.report(HeaderNotEnded, "", string(line))
			s.pos = start
			break
		}
	}
	s.meter.fields = h.fields[:0]
	return h.fields
}

// A headerReader collects the fields of one section.
type headerReader struct {
	*splitter
	r      reporter
	fields []rawField
	room   int  // number of bytes of the field that may still be read
	left   bool // the rest of the field is not read, since it is beyond the limits
	over   bool // that was reported
	seen   int  // the fields of once that are there, a bit each, as needs found them
}

// line adds a line to the fields. It returns false if the line belongs to the body.
func (h *headerReader) line(line []byte) bool {
	if f, isField := cutField(line); isField {
		h.add(f)
		return true
	}
	indented := isBlank(line[0])
	if len(h.fields) == 0 && !h.left {
		f, isField := cutField(bytes.TrimLeft(line, " \t"))
		if !isField && beginsPart(h.peekLine()) {
			h.r.report(HeaderNotFolded, "", string(line))
			return true
		}
		if !isField {
			return false
		}
		h.r.report(HeaderIndented, string(f.name), "")
		h.add(f)
		return true
	}
	if !indented && !h.atField() && !h.continues() {
		return false
	}
	if h.left {
		return true
	}
	last := &h.fields[len(h.fields)-1]
	if !indented {
		h.r.report(HeaderNotFolded, string(last.name), string(line))
		if !goesOn(last.value) {
			h.left = true
			return true
		}
	}
	n := h.take(len(line))
	last.value = last.value[:len(last.value)+n] // the line directly follows it in the message
	return true
}

// take counts n more bytes of the current field, and returns how many of them to read.
func (h *headerReader) take(n int) int {
	room := max(0, h.room)
	h.room -= n
	h.meter.headerBytes += n
	if n > room {
		h.left = true
		h.exceed()
	}
	return min(n, room)
}

// exceed reports the exceeded limit of the header, once.
func (h *headerReader) exceed() {
	if h.over {
		return
	}
	h.over = true
	bounds := h.meter.limits
	if h.meter.headerFields > bounds.HeaderFields {
		h.r.report(LimitExceeded, "", exceeded("HeaderFields", bounds.HeaderFields))
	} else {
		h.r.report(LimitExceeded, "", exceeded("HeaderBytes", bounds.HeaderBytes))
	}
}

// continues reports whether the lines at the position are lines of a field that was not folded, before a usual field.
//
// QUIRK: programs that break long fields forget to indent the lines: many of one long word, or few of words. Sample:
// 16b-folded-nospace.
func (h *headerReader) continues() bool {
	const most, mostWithWords = 50, 5
	start := h.pos
	defer func() { h.pos = start }()
	withWords := 0
	for range most {
		line := h.nextLine()
		if f, isField := cutField(line); isField {
			return isUsual(string(f.name))
		}
		if len(bytes.TrimSpace(line)) == 0 || bytes.HasPrefix(line, []byte("--")) {
			return false
		}
		if bytes.ContainsAny(bytes.TrimSpace(line), " \t") {
			withWords++
		}
		if withWords == mostWithWords {
			return false
		}
	}
	return false
}

// usual are the beginnings of the names of fields that are in the header of a message and hardly in a text.
var usual = []string{"content-", "list-", "x-", "dkim-", "arc-", "received", "authentication-", "mime-", "return-",
	"delivered-", "message-id", "auto-submitted", "precedence"}

func isUsual(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(once, func(o string) bool { return strings.EqualFold(o, name) }) ||
		slices.ContainsFunc(usual, func(start string) bool { return strings.HasPrefix(name, start) })
}

// goesOn reports whether a field cannot end here: it lacks a parameter, or an item of a list.
func goesOn(value []byte) bool {
	value = bytes.TrimRight(value, " \t\r\n")
	return bytes.HasSuffix(value, []byte{';'}) || bytes.HasSuffix(value, []byte{','})
}

// add begins a field. Beyond the limits it reads only the essential fields, so that no number of fields before them
// can hide the sender.
func (h *headerReader) add(f rawField) {
	h.room = h.meter.fieldRoom()
	h.left = false
	h.meter.headerFields++
	h.meter.headerBytes += len(f.name)
	f.value = f.value[:h.take(len(f.value))]
	if h.meter.overHeader() {
		h.exceed()
		if !h.needs(f.name) {
			h.left = true
			return
		}
	}
	if len(h.fields) == cap(h.fields) {
		h.fields = slices.Grow(h.fields, max(32, len(h.fields))) // doubles; append would grow large ones in many steps
	}
	h.fields = append(h.fields, f)
}

// needs reports whether a field is one of those that are always read, and the first of its name.
func (h *headerReader) needs(name []byte) bool {
	if h.seen == 0 { // the first field beyond the limits
		h.seen = 1 << len(once)
		for _, f := range h.fields {
			h.see(f.name)
		}
	}
	return h.see(name)
}

// see notes a field. It reports whether it is the first of one of those that are always read.
func (h *headerReader) see(name []byte) bool {
	i := slices.IndexFunc(once, func(other string) bool {
		return len(other) == len(name) && strings.EqualFold(other, string(name))
	})
	if i < 0 {
		return false
	}
	isFirst := h.seen&(1<<i) == 0
	h.seen |= 1 << i
	return isFirst
}

// endsHeader reports whether a line is the blank line after a header.
//
// QUIRK: the line may contain white space. RFC 5322 allows such lines inside folded fields in obsolete syntax
// (section 4.2), so the next line decides. Sample: blank-line-blanks.
func (s *splitter) endsHeader(line []byte) bool {
	if len(trimLineBreak(line)) == 0 {
		return true
	}
	if len(bytes.TrimSpace(line)) > 0 {
		return false
	}
	return s.pos == len(s.src) || !isBlank(s.src[s.pos]) && !s.atField()
}

// atField reports whether the line at the position begins a field.
func (s *splitter) atField() bool {
	_, isField := cutField(s.peekLine())
	return isField
}

// leading skips anything that may precede the header of a message.
//
// QUIRK: mbox files have a "From " line before each message, and some programs write a byte order mark or blank
// lines. Samples: mbox-line, byte-order-mark, leading-blank.
func (s *splitter) leading(r reporter) {
	start := s.pos
	if bytes.HasPrefix(s.src[s.pos:], []byte("\xEF\xBB\xBF")) {
		s.pos += 3
	}
	header := s.pos
	for s.pos < len(s.src) && len(trimLineBreak(s.peekLine())) == 0 {
		s.nextLine()
	}
	isOnTop := s.pos == header
	if _, isDelimiter := s.delimiter(s.peekLine()); isDelimiter || !s.atField() {
		s.pos = header // the blank line ends a header without fields
	}
	if s.pos > start {
		r.report(LeadingBlank, "", "")
	}
	for first := true; !s.atField() && bytes.HasPrefix(bytes.TrimLeft(s.peekLine(), ">"), []byte("From ")); first = false {
		if !first && s.junk() == 0 {
			break // the text of a message without a header
		}
		r.report(MboxLine, "", string(s.nextLine()))
	}
	if isOnTop {
		for range s.junk() {
			r.report(HeaderNotFolded, "", string(s.nextLine()))
		}
	}
}

// junk counts the lines at the position that precede a header and are not its fields; it is 0 if no header begins.
//
// QUIRK: programs that store or forward mail leave lines of their own at the top. Samples: header-junk, mbox-lines,
// no-header-colons.
func (s *splitter) junk() (lines int) {
	const most = 3
	start := s.pos
	defer func() { s.pos = start }()
	for ; !s.atField(); lines++ {
		line := s.nextLine()
		_, isIndented := cutField(bytes.TrimLeft(line, " \t"))
		if isIndented || lines == most || len(bytes.TrimSpace(line)) == 0 || bytes.HasPrefix(line, []byte("--")) {
			return 0
		}
	}
	if !s.skipHeader() {
		return 0
	}
	return lines
}

// skipHeader reports whether lines are a header with two of the fields of every message: a text may have lines with a
// colon, too. It moves the position to anywhere in them.
func (s *splitter) skipHeader() bool {
	const needed, within = 2, 30
	known := 0
	for range within {
		line := s.nextLine()
		f, isField := cutField(line)
		if !isField && (len(line) == 0 || !isBlank(line[0]) || len(bytes.TrimSpace(line)) == 0) {
			return false
		}
		if slices.ContainsFunc(once, func(name string) bool { return strings.EqualFold(name, string(f.name)) }) {
			known++
		}
		if known == needed {
			return true
		}
	}
	return false
}

// lineFeeds converts line ends from CR to LF.
//
// QUIRK: old Macintoshes end lines in CR alone. Sample: bare-cr.
func lineFeeds(src []byte, r reporter) []byte {
	if bytes.IndexByte(src, '\n') >= 0 || bytes.IndexByte(src, '\r') < 0 {
		return src
	}
	r.report(BareCR, "", "")
	return bytes.ReplaceAll(src, []byte{'\r'}, []byte{'\n'})
}
