package reply

import (
	"github.com/postroom-go/postroom/mime"
	"slices"
	"strings"
)

// A Kind is the kind of a passage of a message's text.
type Kind string

// The kinds of passages.
const (
	// Written: the sender's own new text.
	Written Kind = "written"
	// Attribution: the line, or the block of header fields, that introduces a quotation: "On Monday Ada wrote:".
	Attribution Kind = "attribution"
	// Quoted: another author's text, from an earlier message or a forwarded one.
	Quoted Kind = "quoted"
	// Signature: the sender's signature, or that of the sender's device.
	Signature Kind = "signature"
	// Footer: the footer of a mailing list.
	Footer Kind = "footer"
)

// A Passage is a run of lines of one kind.
type Passage struct {
	Kind Kind
	Text string // whole lines, with their line ends
}

// A Passages is a text split into passages. Their concatenation is the text.
type Passages []Passage

// Written returns the sender's new text: the passages of that kind without surrounding blank lines, separated by an
// empty line.
func (r Passages) Written() string { return r.join(Written) }

// Quoted returns the quoted passages like Written, with their quote marks.
func (r Passages) Quoted() string { return r.join(Quoted) }

// Signature returns the signatures like Written.
func (r Passages) Signature() string { return r.join(Signature) }

func (r Passages) join(kind Kind) string {
	var texts []string
	for _, p := range r {
		if text := trimBlankLines(p.Text); p.Kind == kind && text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func trimBlankLines(s string) string {
	for {
		line, rest, found := strings.Cut(s, "\n")
		if !found || strings.TrimSpace(line) != "" {
			return strings.TrimRight(s, " \t\r\n")
		}
		s = rest
	}
}

// Split splits a plain text, with lines ending in LF, into new text, quotations with the lines that introduce them, and
// signatures. It knows the usual mail programs in English, German, French, Spanish, Italian, Portuguese, Dutch,
// Swedish, Danish, Norwegian, Finnish, Polish, Russian, Japanese, Chinese and Korean. New lines between quoted ones
// stay the sender's.
//
// The result is an estimate. If in doubt, a line counts as written, so that nothing that a person wrote is lost. A
// signature without a delimiter is written text. Time is linear in the size of the text; only the first 512 KiB are
// examined. Allocations stay under four times the size of the text plus 24 MiB.
func Split(text string) Passages {
	var s splitter
	s.expect(text)
	for rest := text; rest != ""; {
		line := rest[:1+strings.IndexByte(rest, '\n')]
		if line == "" {
			line = rest
		}
		if !s.add(line, Written) {
			s.tail = rest
			break
		}
		rest = rest[len(line):]
	}
	return s.split()
}

// Read splits the text of the message like [Split]. If the message has only HTML, it splits the text of the HTML with
// the help of the marks of mail programs, like [SplitHTML].
func Read(m *mime.Message) Passages {
	if strings.TrimSpace(m.Text) == "" {
		return SplitHTML(m.HTML)
	}
	return Split(m.Text)
}

// A textLine is a line, with and without surrounding blanks, and its kind.
type textLine struct {
	raw, text string
	kind      Kind
}

// maxSize bounds the bytes of the text that are examined, since lines cost more memory than text. The rest belongs to
// the last passage.
const maxSize = 512 << 10

type splitter struct {
	lines []textLine
	size  int
	tail  string // the rest
	// tailEnd follows the tail.
	tailEnd string
}

// expect makes room for the lines of a text.
func (s *splitter) expect(text string) {
	s.lines = make([]textLine, 0, strings.Count(text[:min(len(text), maxSize)], "\n")+1)
}

// add adds a line. It reports whether the line is within the bounds.
func (s *splitter) add(line string, kind Kind) bool {
	s.size += len(line)
	if s.size > maxSize {
		return false
	}
	s.lines = append(s.lines, textLine{raw: line, text: strings.Trim(line, " \t\r\n\u00A0\u200B\uFEFF"), kind: kind})
	return true
}

func (s *splitter) split() Passages {
	s.markQuotes()
	s.markIntroductions()
	s.markSignatures()
	return s.passages()
}

// markQuotes marks the lines with a quote mark.
//
// QUIRK: mbox files put a quote mark before a "From" that begins a line; alone it is not a quotation. Sample:
// reply-mbox-from.
func (s *splitter) markQuotes() {
	for i := range s.lines {
		line := &s.lines[i]
		if line.kind != Written || !isQuoteMark(line.text) || i > 0 && closesBracket(s.lines[i-1].text, line.text) {
			continue
		}
		alone := (i == 0 || !isQuoteMark(s.lines[i-1].text)) && (i+1 == len(s.lines) || !isQuoteMark(s.lines[i+1].text))
		if alone && strings.HasPrefix(line.text, ">From ") {
			continue
		}
		line.kind = Quoted
	}
}

func isQuoteMark(text string) bool {
	return strings.HasPrefix(text, ">") || strings.HasPrefix(text, "\uFF1E")
}

// closesBracket reports whether a line begins with the bracket that ends an address in the line before it.
//
// QUIRK: Gmail wraps "Bob <bob@example.net>:" before the bracket. Sample: reply-bracket-wrapped.
func closesBracket(before, line string) bool {
	return strings.LastIndexByte(before, '<') > strings.LastIndexByte(before, '>') && strings.Contains(before, "@") &&
		endsAttribution(line)
}

// markIntroductions finds the introductions of quotations: lines of attribution, separators, blocks of header fields.
// If the text after an introduction has no quote marks, all of it is quoted.
func (s *splitter) markIntroductions() {
	for i := 0; i < len(s.lines); {
		n := s.introduction(i)
		if n == 0 {
			i++
			continue
		}
		s.mark(i, i+n, Attribution)
		i += n
		if next := s.skipBlank(i); next < len(s.lines) && s.lines[next].kind != Quoted && s.introduction(next) == 0 {
			s.mark(i, len(s.lines), Quoted)
			return
		}
	}
}

func (s *splitter) mark(from, to int, kind Kind) {
	for i := from; i < to; i++ {
		s.lines[i].kind = kind
	}
}

// skipBlank returns the index of the first line from i on that is not blank.
func (s *splitter) skipBlank(i int) int {
	for i < len(s.lines) && s.lines[i].text == "" {
		i++
	}
	return i
}

// introduction returns the number of lines from i on that introduce a quotation; 0 if they do not.
func (s *splitter) introduction(i int) int {
	if s.lines[i].kind != Written {
		return 0
	}
	if n := s.rule(i); n > 0 {
		return n
	}
	if isSeparator(s.lines[i].text) {
		block := s.skipBlank(i + 1)
		if block < len(s.lines) {
			if n := s.headerBlock(block, 2); n > 0 {
				return block + n - i
			}
		}
		return 1
	}
	if n := s.headerBlock(i, 3); n > 0 {
		return n
	}
	return s.attribution(i)
}

// rule recognizes a line of underscores, dashes or equal signs and the header fields below it, as Outlook and others
// write them.
func (s *splitter) rule(i int) int {
	text := s.lines[i].text
	if len(text) < 4 || strings.Trim(text, "_-=") != "" {
		return 0
	}
	block := s.skipBlank(i + 1)
	if block == len(s.lines) {
		return 0
	}
	if n := s.headerBlock(block, 3); n > 0 {
		return block + n - i
	}
	return 0
}

// maxBlock bounds the lines of a block of header fields, and maxFolded those of one field.
const maxBlock, maxFolded = 30, 4

// headerBlock returns the length of a block of header fields that begins at line i. The block must have the given
// number of different fields, including From. Fields may be folded, and blank lines may stand between them.
func (s *splitter) headerBlock(i, atLeast int) int {
	if fieldClass(s.lines[i].text) == 0 {
		return 0
	}
	var found fieldSet
	end, folded := i, 0
	for j := i; j < len(s.lines) && j < i+maxBlock; j++ {
		text := s.lines[j].text
		switch class := fieldClass(text); {
		case class != 0:
			found |= class
			end, folded = j+1, 0
		case text == "" && found.count() >= atLeast && found&fieldFrom != 0, folded >= maxFolded:
			j = len(s.lines)
		case text == "":
			folded += 2
		default:
			folded++
			if j == end && strings.HasSuffix(s.lines[j-1].text, ",") {
				end = j + 1
			}
		}
	}
	if found&fieldFrom == 0 || found.count() < atLeast {
		return 0
	}
	return end - i
}

// maxAttribution bounds the lines, and maxAttributionLength the bytes, of a line of attribution that is wrapped.
const maxAttribution, maxAttributionLength = 4, 400

// attribution returns the number of lines from i on that name the author of the following text.
func (s *splitter) attribution(i int) int {
	var joined strings.Builder
	for n := 1; n <= maxAttribution && i+n <= len(s.lines); n++ {
		line := s.lines[i+n-1]
		if line.text == "" || line.kind != Written || joined.Len()+len(line.text) > maxAttributionLength {
			return 0
		}
		if n > 1 {
			joined.WriteByte(' ')
		}
		joined.WriteString(line.text)
		if !endsAttribution(line.text) {
			continue
		}
		next := s.skipBlank(i + n)
		isQuoted := next < len(s.lines) && s.lines[next].kind == Quoted && next-(i+n) <= 2
		if !isAttribution(joined.String(), isQuoted) || n > 1 && !s.wraps(i, n) {
			return 0
		}
		return n
	}
	return 0
}

// wraps reports whether an attribution of n lines needs its first line: it has a name or a date, and the others alone
// are not an attribution.
func (s *splitter) wraps(i, n int) bool {
	var rest []string
	for _, line := range s.lines[i+1 : i+n] {
		rest = append(rest, line.text)
	}
	begin := s.lines[i].text
	if !beginsAttribution(begin) {
		return false
	}
	return strings.HasSuffix(begin, ",") && clockOrDate.MatchString(begin) ||
		!isAttribution(strings.Join(rest, " "), false)
}

// passages joins consecutive lines of a kind. Blank lines belong to the line before them, except at the top.
func (s *splitter) passages() Passages {
	for i := range s.lines {
		if s.lines[i].text == "" && i > 0 && s.lines[i].kind == Written {
			s.lines[i].kind = s.lines[i-1].kind
		}
	}
	if top := s.skipBlank(0); top < len(s.lines) {
		s.mark(0, top, s.lines[top].kind)
	}
	var reply Passages
	for i := 0; i < len(s.lines); {
		end := i + slices.IndexFunc(s.lines[i:], func(l textLine) bool { return l.kind != s.lines[i].kind })
		if end < i {
			end = len(s.lines)
		}
		var text strings.Builder
		size := 0
		for _, line := range s.lines[i:end] {
			size += len(line.raw)
		}
		text.Grow(size)
		for _, line := range s.lines[i:end] {
			text.WriteString(line.raw)
		}
		reply = append(reply, Passage{Kind: s.lines[i].kind, Text: text.String()})
		i = end
	}
	switch {
	case s.tail == "":
	case len(reply) == 0:
		reply = Passages{{Kind: Written, Text: s.tail + s.tailEnd}}
	default:
		reply[len(reply)-1].Text += s.tail + s.tailEnd
	}
	return reply
}
