package mime

import "fmt"

// Limits bound the cost of reading one message. What is beyond them stays in the message as it came, and
// [Message.Defects] says so: no message is refused. A nil *Limits and a zero field use the defaults; a negative field is
// an error.
type Limits struct {
	// Size bounds how much of the raw message is read, in bytes; what is behind it is left out. Default 64 MiB; Gmail
	// takes 50 MB in and 35 MiB out.
	Size int
	// Depth bounds how deep multiparts and attached messages may nest. What is deeper is one part: see [Part.IsOpaque].
	// Default 100.
	Depth int
	// Parts bounds the parts of the message and of all messages attached to it. What follows is one part more in each
	// multipart that goes on: see [Part.IsOpaque]. Default 10,000.
	Parts int
	// HeaderBytes bounds all header sections of the message together. Behind it only the fields are read that Message
	// and Part are made of, the first of each name, and of each its first 64 KiB. Default 2 MiB; Gmail takes 500 KB.
	HeaderBytes int
	// HeaderFields bounds the fields of all header sections together, and the parameters, addresses and ids in them. What
	// is behind it is treated as for HeaderBytes; of a list, the first of its addresses or ids are read. Default 50,000.
	HeaderFields int
}

var defaultLimits = Limits{Size: 64 << 20, Depth: 100, Parts: 10_000, HeaderBytes: 2 << 20, HeaderFields: 50_000}

// Validate returns an error that names the first field that is negative; nil when there is none.
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

// A meter counts what one reading has used of its limits, over all messages within the message.
type meter struct {
	limits Limits

	parts, headerBytes, headerFields int

	fields []rawField // of the section that is being read; one memory for all sections

	decoded int // bytes of attached messages that had to be copied because they came in a transfer encoding
	copied  int // bytes of bodies that were copied to leave out or to move what stands in them
	shown   int // bytes of the texts of messages that are shown within others
	size    int

	hints charsetHints
}

// shut names the limit that keeps a multipart or a message at a depth from being opened; empty when none does.
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

// exceeded is the detail of a [LimitExceeded].
func exceeded(field string, bound int) string { return fmt.Sprintf("Limits.%s is %d", field, bound) }

// overHeader reports whether a limit keeps more of the header from being read.
func (m *meter) overHeader() bool {
	return m.headerFields > m.limits.HeaderFields || m.headerBytes > m.limits.HeaderBytes
}

// fieldRoom is how many bytes of a field are read: as many as HeaderBytes allows, and a few when that is used up.
func (m *meter) fieldRoom() int {
	const few = 64 << 10
	return max(few, m.limits.HeaderBytes-m.headerBytes)
}

// items is how many parameters, addresses or ids of one field are read: all, as far as HeaderFields allows, and
// a few when that is used up.
func (m *meter) items() int {
	const few = 10
	return max(few, m.limits.HeaderFields-m.headerFields)
}

// freely is what the copies below may cost in any message, in bytes.
const freely = 1 << 20

// mayDecode reports whether an attached message of n bytes, which came in a transfer encoding, is read. Its parts may be
// encoded again, and its text may need three bytes for each of its own: a chain of base64 stays below 4 times the size of
// the whole message; quoted-printable, which need not shrink, would otherwise cost its size again at every level.
func (m *meter) mayDecode(n int) bool {
	m.decoded += n
	return m.decoded <= freely || m.decoded+4*n <= 4*m.size
}

// mayShow reports whether the texts of a message, n bytes, are repeated in the message around it.
func (m *meter) mayShow(n int) bool {
	m.shown += n
	return m.shown <= freely
}

// mayCopy reports whether a body of n bytes is copied, for a text without stray delimiters or parts with indented ones.
func (m *meter) mayCopy(n int) bool {
	m.copied += n
	return m.copied <= freely
}
