package mime

import "bytes"

// header reads a header section and the blank line behind it.
//
// QUIRK: a delimiter ends a header as well, since parts that are a header alone are often sent without the blank
// line. So does a line that is no field, unless it can only be the rest of the field before it. A first line that is
// indented is a field. Samples: delimiter-ends-header, header-not-ended, header-not-folded, header-indented.
func (s *splitter) header(r reporter) ([]rawField, error) {
	var fields []rawField
	for s.pos < len(s.src) {
		start, before := s.pos, len(fields)
		line := s.nextLine()
		_, isDelimiter := s.delimiter(line)
		if !isDelimiter && s.endsHeader(line) {
			return fields, nil
		}
		if isDelimiter || !s.headerLine(&fields, line, r) {
			r.report(HeaderNotEnded, "", string(line))
			s.pos = start
			return fields, nil
		}
		if err := s.meter.addHeader(len(fields)-before, len(line)); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// headerLine adds a line to the fields; false when it belongs to the body.
func (s *splitter) headerLine(fields *[]rawField, line []byte, r reporter) bool {
	if f, isField := cutField(line); isField {
		*fields = append(*fields, f)
		return true
	}
	indented := isBlank(line[0])
	if len(*fields) == 0 {
		f, isField := cutField(bytes.TrimLeft(line, " \t"))
		if !isField {
			return false
		}
		r.report(HeaderIndented, f.name, "")
		*fields = append(*fields, f)
		return true
	}
	last := &(*fields)[len(*fields)-1]
	if !indented {
		if !s.atField() {
			return false
		}
		r.report(HeaderNotFolded, last.name, string(line))
	}
	last.value = last.value[:len(last.value)+len(line)] // the line stands right behind it in the message
	return true
}

// endsHeader reports whether a line is the blank one behind a header.
//
// QUIRK: the line may have white space in it. RFC 5322 once allowed such lines inside folded fields (section 4.2), so
// what follows decides. Sample: blank-line-blanks.
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

// leading skips what may stand before the header of a message.
//
// QUIRK: mbox files have a "From " line on top of each message, and some programs write a byte order mark or blank
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
	if _, isDelimiter := s.delimiter(s.peekLine()); isDelimiter || !s.atField() {
		s.pos = header // the blank line ends a header without fields
	}
	if s.pos > start {
		r.report(LeadingBlank, "", "")
	}
	if line := s.peekLine(); !s.atField() && bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From ")) {
		r.report(MboxLine, "", string(line))
		s.nextLine()
	}
}

// lineFeeds makes lines end in LF where they end in CR.
//
// QUIRK: old Macintoshes end lines in CR alone. Sample: bare-cr.
func lineFeeds(src []byte, r reporter) []byte {
	if bytes.IndexByte(src, '\n') >= 0 || bytes.IndexByte(src, '\r') < 0 {
		return src
	}
	r.report(BareCR, "", "")
	return bytes.ReplaceAll(src, []byte{'\r'}, []byte{'\n'})
}
