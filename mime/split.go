package mime

import (
	"bytes"
	"strconv"
	"strings"
)

// A splitter cuts a message into its parts in one pass over its bytes. It looks at each line once, and compares it
// with all open boundaries by one map lookup, however deep they nest.
type splitter struct {
	src  []byte
	pos  int            // always at the start of a line
	open map[string]int // the boundaries of the multiparts being read, and their depth

	meter    *meter
	guessing bool // a boundary was guessed for an enclosing multipart

	unclosed map[string]bool // the boundaries of multiparts that ended without their closing delimiter
}

// A delimiter is a line that separates the parts of a multipart, or ends them (RFC 2046, section 5.1.1).
type delimiter struct {
	depth   int // of its multipart; 0 at the end of the input
	closing bool
	start   int // the end of the content before it; the line break before a delimiter belongs to it
}

// message reads a message up to the next enclosing delimiter.
func (s *splitter) message(depth int) (*Message, delimiter) {
	m := &Message{}
	s.leading(reporter{to: &m.Defects})
	root, end := s.part(reporter{to: &m.Defects}, depth, "text/plain")
	m.Root, m.Header = root, root.Header
	m.fill(s.meter)
	return m, end
}

// part reads one part: its header, and its body up to the next enclosing delimiter.
func (s *splitter) part(r reporter, depth int, defaultType string) (*Part, delimiter) {
	s.meter.parts++
	fields := s.header(r)
	p := newPart(decodeHeader(fields, s.src[s.pos:], s.meter.finder, r), r, defaultType, s.meter)
	var end delimiter
	start, shut := s.pos, s.meter.shut(depth)
	switch {
	case shut != "" && (p.IsMultipart() || p.isMessage()):
		r.report(LimitExceeded, "", shut)
		p.opaque = true
		end = s.nextDelimiter()
		p.setContent(s.between(start, end), r)
	case p.IsMultipart():
		end = s.multipart(p, r, depth)
	case p.isMessage() && isIdentity(p.encoding):
		p.Message, end = s.message(depth + 1)
		p.Content = s.between(start, end)
		p.Message.Size = len(p.Content)
	default:
		end = s.nextDelimiter()
		body := s.between(start, end)
		if len(s.unclosed) > 0 && strings.HasPrefix(p.ContentType, "text/") {
			body = s.withoutLines(body, s.closesLate)
		}
		p.setContent(body, r)
		if p.isMessage() {
			s.openEncoded(p, r, depth)
		}
	}
	return p, end
}

func (s *splitter) between(start int, end delimiter) []byte {
	return s.src[start:max(start, end.start):max(start, end.start)]
}

// openEncoded reads a message that is attached in a transfer encoding.
//
// QUIRK: RFC 2046, section 5.2.1, forbids an encoding there; Exchange and others use base64 nevertheless. Sample:
// attached-base64.
func (s *splitter) openEncoded(p *Part, r reporter, depth int) {
	r.report(MessageEncoded, "Content-Transfer-Encoding", p.encoding)
	if !s.meter.mayDecode(len(p.Content)) {
		p.opaque = true
		r.report(NotOpened, "", "")
		return
	}
	p.Message, _ = newSplitter(p.Content, s.meter).message(depth + 1)
	p.Message.Size = len(p.Content)
}

func newSplitter(src []byte, m *meter) *splitter {
	return &splitter{src: src, open: map[string]int{}, meter: m}
}

// multipart reads the parts of p. If the declared boundary does not occur, it looks for another.
//
// QUIRK: boundaries are missing, or differ from the declared one. The first line that looks like a delimiter and is
// followed by a Content- field gives the boundary. Without one the body, except for its delimiters, becomes text, so
// that nothing is lost. Samples: boundary-wrong, boundary-none, boundary-first-missing.
func (s *splitter) multipart(p *Part, r reporter, depth int) delimiter {
	start := s.pos
	end := s.readParts(p, r, depth, p.Params["boundary"])
	if len(p.Parts) > 0 {
		return end
	}
	body := s.between(start, end)
	r.report(BoundaryMissing, "Content-Type", p.Params["boundary"])
	if s.indented(p, r, depth, body) {
		return end
	}
	if boundary := guessBoundary(body); boundary != "" && !s.guessing {
		s.pos, s.guessing = start, true
		end = s.readParts(p, r, depth, boundary)
		s.guessing = false
	}
	if len(p.Parts) == 0 {
		p.ContentType = "text/plain"
		p.setContent(s.withoutDelimiters(body, p.Params["boundary"]), r)
	}
	return end
}

// withoutDelimiters removes the delimiters from a text without parts.
func (s *splitter) withoutDelimiters(body []byte, boundary string) []byte {
	boundary = strings.TrimRight(boundary, " \t")
	if boundary == "" {
		return body
	}
	return s.withoutLines(body, func(line []byte) bool {
		return string(line) == boundary || string(bytes.TrimRight(bytes.TrimSuffix(line, []byte("--")), " \t")) == boundary
	})
}

// closesLate reports whether a line is the closing delimiter of a multipart that the enclosing one has ended.
//
// QUIRK: the delimiters of two multiparts overlap. Sample: boundary-late.
func (s *splitter) closesLate(line []byte) bool {
	name, closing := bytes.CutSuffix(line, []byte("--"))
	return closing && s.unclosed[string(name)]
}

// withoutLines removes the lines that begin with two hyphens and continue with text for which isDelimiter returns
// true, ignoring trailing blanks. The line break before such a line at the end belongs to it. If lines other than the
// last are removed, the rest is copied, as long as copies are small.
func (s *splitter) withoutLines(body []byte, isDelimiter func(name []byte) bool) []byte {
	isLeftOut := func(line []byte) bool {
		name, found := bytes.CutPrefix(bytes.TrimRight(line, " \t\r\n"), []byte("--"))
		return found && isDelimiter(name)
	}
	at, first, behind := 0, -1, false
	for line := range bytes.Lines(body) {
		switch {
		case isLeftOut(line):
			if first < 0 {
				first = at
			}
		case first >= 0 && len(bytes.TrimSpace(line)) > 0:
			behind = true
		}
		at += len(line)
	}
	switch {
	case first < 0:
		return body
	case !behind:
		return trimLineBreak(body[:first])
	case !s.meter.mayCopy(len(body)):
		return body
	}
	kept := append(make([]byte, 0, len(body)), body[:first]...)
	atEnd := false
	for line := range bytes.Lines(body[first:]) {
		if !isLeftOut(line) {
			kept = append(kept, line...)
		}
		atEnd = isLeftOut(line)
	}
	if atEnd {
		kept = trimLineBreak(kept)
	}
	return kept
}

// indented reads the parts of p if its delimiters are indented.
//
// QUIRK: programs indent a message that they forward, including its delimiters. Sample: boundary-indented.
func (s *splitter) indented(p *Part, r reporter, depth int, body []byte) bool {
	boundary := strings.TrimRight(p.Params["boundary"], " \t")
	if boundary == "" || !bytes.Contains(body, []byte(" --"+boundary)) &&
		!bytes.Contains(body, []byte("\t--"+boundary)) || !s.meter.mayCopy(len(body)) {
		return false
	}
	delimiter := []byte("--" + boundary)
	straight := make([]byte, 0, len(body))
	for line := range bytes.Lines(body) {
		if text := bytes.TrimLeft(line, " \t"); bytes.HasPrefix(text, delimiter) {
			line = text
		}
		straight = append(straight, line...)
	}
	newSplitter(straight, s.meter).readParts(p, r, depth, boundary)
	return len(p.Parts) > 0
}

// readParts reads parts up to the closing delimiter, or to a delimiter of an enclosing multipart, and then the text
// up to that.
func (s *splitter) readParts(p *Part, r reporter, depth int, boundary string) delimiter {
	boundary = strings.TrimRight(boundary, " \t") // see the QUIRK of delimiter
	if boundary == "" {
		return s.nextDelimiter()
	}
	outer, reused := s.open[boundary]
	s.open[boundary] = depth
	start := s.pos
	end := s.nextDelimiter()
	if end.depth == depth && end.closing && beginsPart(s.between(start, end)) {
		r.report(BoundaryMissing, "Content-Type", boundary)
		body := s.between(start, end)
		// the first delimiter is what is missing
		s.pos, end.closing = start+len(body)-len(bytes.TrimLeft(body, " \t\r\n")), false
	}
	for end.depth == depth && end.closing {
		end = s.nextDelimiter() // the closing delimiter comes first
	}
	for end.depth == depth && !end.closing {
		var child *Part
		inner := reporter{to: r.to, part: strings.TrimPrefix(r.part+"."+strconv.Itoa(len(p.Parts)+1), ".")}
		if s.meter.parts < s.meter.limits.Parts {
			child, end = s.part(inner, depth+1, p.defaultType())
		} else {
			child, end = s.rest(inner, depth)
		}
		child.reported = p.ContentType == "multipart/report" && len(p.Parts) > 0
		p.Parts = append(p.Parts, child)
	}
	delete(s.open, boundary)
	if reused {
		s.open[boundary] = outer
	}
	if end.depth == depth {
		return s.nextDelimiter()
	}
	if len(p.Parts) > 0 {
		r.report(BoundaryNotClosed, "", boundary)
		if s.unclosed == nil {
			s.unclosed = map[string]bool{}
		}
		s.unclosed[boundary] = true
	}
	return end
}

// rest makes one part of the rest of the multipart at a depth, including its delimiters.
func (s *splitter) rest(r reporter, depth int) (*Part, delimiter) {
	r.report(LimitExceeded, "", exceeded("Parts", s.meter.limits.Parts))
	start := s.pos
	end := s.nextDelimiter()
	for end.depth == depth && !end.closing {
		end = s.nextDelimiter()
	}
	return &Part{Path: r.part, ContentType: "application/octet-stream", Content: s.between(start, end), opaque: true}, end
}

// nextDelimiter moves past the next delimiter of an open multipart, or to the end.
func (s *splitter) nextDelimiter() delimiter {
	for len(s.open) > 0 {
		if !bytes.HasPrefix(s.src[s.pos:], []byte("--")) {
			i := bytes.Index(s.src[s.pos:], []byte("\n--"))
			if i < 0 {
				break
			}
			s.pos += i + 1
		}
		start := s.pos
		line := s.nextLine()
		if d, found := s.delimiter(line); found {
			d.start = len(trimLineBreak(s.src[:start]))
			return d
		}
	}
	s.pos = len(s.src)
	return delimiter{start: len(s.src)}
}

// nextLine returns the line at the position, with its line break, and moves past it.
func (s *splitter) nextLine() []byte {
	line := s.peekLine()
	s.pos += len(line)
	return line
}

func (s *splitter) peekLine() []byte {
	line := s.src[s.pos:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i+1]
	}
	return line
}

// delimiter reports whether a line is a delimiter of an open multipart. Only blanks may follow the boundary, so that
// one boundary may be the beginning of another.
//
// QUIRK: boundaries end in blanks, which RFC 2046, section 5.1.1, forbids. They are ignored. Sample: boundary-blank.
func (s *splitter) delimiter(line []byte) (d delimiter, found bool) {
	line, found = bytes.CutPrefix(bytes.TrimRight(line, " \t\r\n"), []byte("--"))
	if !found {
		return d, false
	}
	if depth, isOpen := s.open[string(line)]; isOpen {
		return delimiter{depth: depth}, true
	}
	line, found = bytes.CutSuffix(line, []byte("--"))
	if !found {
		return d, false
	}
	depth, isOpen := s.open[string(bytes.TrimRight(line, " \t"))]
	return delimiter{depth: depth, closing: true}, isOpen
}

// guessBoundary looks for a line that looks like a delimiter and is followed by a Content- field.
func guessBoundary(body []byte) string {
	previous := ""
	for line := range bytes.Lines(body) {
		if len(previous) > 2 && len(line) > 8 && strings.EqualFold(string(line[:8]), "Content-") {
			return previous[2:]
		}
		previous = ""
		if bytes.HasPrefix(line, []byte("--")) {
			previous = string(bytes.TrimRight(line, " \t\r\n"))
		}
	}
	return ""
}

// beginsPart reports whether a body begins with the header of a part.
func beginsPart(body []byte) bool {
	f, isField := cutField(bytes.TrimLeft(body, " \t\r\n"))
	return isField && len(f.name) > 8 && strings.EqualFold(string(f.name[:8]), "Content-")
}

func trimLineBreak(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte{'\n'}), []byte{'\r'})
}
