package mime

import (
	"fmt"

	"github.com/postroom-go/postroom/mime/charset"
)

// Limits bound the cost of parsing one message. No message is refused: content beyond the limits is kept unread, and
// [Message.Defects] reports it. A nil *Limits and a zero field use the defaults. A negative field is an error.
type Limits struct {
	// Size bounds the bytes of the raw message that are read; the rest is left out. Default 64 MiB; Gmail accepts 50 MB
	// for incoming and 35 MiB for outgoing mail.
	Size int
	// Depth bounds the nesting of multiparts and attached messages. A deeper one is one part: see [Part.IsOpaque].
	// Default 100.
	Depth int
	// Parts bounds the parts of the message and of all messages attached to it. Each multipart that continues beyond the
	// limit gets one more part for the rest: see [Part.IsOpaque]. Default 10,000.
	Parts int
	// HeaderBytes bounds all header sections of the message together. Beyond it, only the fields that Message and Part
	// need are read: the first of each name, and its first 64 KiB. Default 2 MiB; Gmail accepts 500 KB.
	HeaderBytes int
	// HeaderFields bounds the fields of all header sections together, and the parameters, addresses and ids in them.
	// Further fields are treated as for HeaderBytes; of a list, the first addresses or ids are read. Default 50,000.
	HeaderFields int
}

var defaultLimits = Limits{Size: 64 << 20, Depth: 100, Parts: 10_000, HeaderBytes: 2 << 20, HeaderFields: 50_000}

// Validate returns an error that names the first negative field, or nil if there is none.
func (l *Limits) Validate() error {
	_, err := l.withDefaults()
	return err
}

func (l *Limits) withDefaults() (Limits, error) {
	limits := defaultLimits
	if l == nil {
		return limits, nil
	}
	for _, bound := range []struct {
		name     string
		from, to *int
	}{
		{"Size", &l.Size, &limits.Size},
		{"Depth", &l.Depth, &limits.Depth},
		{"Parts", &l.Parts, &limits.Parts},
		{"HeaderBytes", &l.HeaderBytes, &limits.HeaderBytes},
		{"HeaderFields", &l.HeaderFields, &limits.HeaderFields},
	} {
		switch {
		case *bound.from < 0:
			return limits, fmt.Errorf("mime: Limits.%s is %d; use 0 for the default of %d, or a positive number",
				bound.name, *bound.from, *bound.to)
		case *bound.from > 0:
			*bound.to = *bound.from
		}
	}
	return limits, nil
}

// A meter counts the use of the limits by one parse, including attached messages.
type meter struct {
	limits Limits

	parts, headerBytes, headerFields int

	fields []rawField // of the current section; one buffer for all sections

	decoded int // bytes of attached messages that had to be copied because they came in a transfer encoding
	copied  int // bytes of bodies that were copied to remove or to move parts of them
	shown   int // bytes of the texts of messages that are shown within others
	size    int

	converted int // bytes of texts that are repeated in the other form

	finder *charset.Finder
}

// shut names the limit that keeps a multipart or a message at a depth from being opened; empty if there is none.
func (m *meter) shut(depth int) string {
	switch {
	case depth >= m.limits.Depth:
		return exceeded("Depth", m.limits.Depth)
	case m.parts >= m.limits.Parts:
		return exceeded("Parts", m.limits.Parts)
	default:
		return ""
	}
}

// exceeded returns the detail of a [LimitExceeded].
func exceeded(field string, bound int) string { return fmt.Sprintf("Limits.%s is %d", field, bound) }

// overHeader reports whether a limit keeps more of the header from being read.
func (m *meter) overHeader() bool {
	return m.headerFields > m.limits.HeaderFields || m.headerBytes > m.limits.HeaderBytes
}

// fieldRoom returns the number of bytes of a field to read: as many as HeaderBytes allows, and a few when that is
// used up.
func (m *meter) fieldRoom() int {
	const few = 64 << 10
	return max(few, m.limits.HeaderBytes-m.headerBytes)
}

// items returns the number of parameters, addresses or ids of one field to read: as many as HeaderFields allows, and
// a few when that is used up.
func (m *meter) items() int {
	const few = 10
	return max(few, m.limits.HeaderFields-m.headerFields)
}

// freely is the cost, in bytes, that the copies below may have in any message.
const freely = 1 << 20

// mayDecode reports whether an attached message of n bytes in a transfer encoding is read. Its parts may be encoded
// again, and its text may need three bytes for each of its own. A chain of base64 stays below 4 times the size of the
// whole message; quoted-printable, which need not shrink, would otherwise cost its size again at every level.
func (m *meter) mayDecode(n int) bool {
	m.decoded += n
	return m.decoded <= freely || m.decoded+4*n <= 4*m.size
}

// mayShow reports whether the texts of a message, n bytes, are repeated in the enclosing message.
func (m *meter) mayShow(n int) bool {
	m.shown += n
	return m.shown <= freely
}

// mayConvert returns how many of n bytes of text are repeated in the other form.
func (m *meter) mayConvert(n int) int {
	n = min(n, max(0, freely-m.converted))
	m.converted += n
	return n
}

// mayCopy reports whether a body of n bytes is copied, for a text without stray delimiters or parts with indented ones.
func (m *meter) mayCopy(n int) bool {
	m.copied += n
	return m.copied <= freely
}
