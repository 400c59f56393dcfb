package mime

import (
	"errors"
	"fmt"
)

// ErrLimit reports that the message exceeds one of the [Limits]; the error is a [*LimitError], which names it.
var ErrLimit = errors.New("message exceeds a limit")

// Limits bound the cost of reading one message. A nil *Limits and a zero field use the defaults; a negative field is an
// error.
type Limits struct {
	// Size bounds the raw message, in bytes. Default 64 MiB; Gmail takes 50 MB in and 35 MiB out.
	Size int
	// Depth bounds how deep multiparts and attached messages may nest. Default 100.
	Depth int
	// Parts bounds the parts of the message and of all messages attached to it. Default 10,000.
	Parts int
	// HeaderBytes bounds all header sections of the message together. Default 8 MiB.
	HeaderBytes int
	// HeaderFields bounds the fields of all header sections together. Default 50,000.
	HeaderFields int
}

var defaultLimits = Limits{Size: 64 << 20, Depth: 100, Parts: 10_000, HeaderBytes: 8 << 20, HeaderFields: 50_000}

// A LimitError says which bound a message exceeds. It matches [ErrLimit].
type LimitError struct {
	Field string // the field of Limits to raise: Size, Depth, Parts, HeaderBytes or HeaderFields
	Value int    // the value of the bound
}

// Error names the bound, its value and the field to raise.
func (e *LimitError) Error() string {
	return fmt.Sprintf("mime: message exceeds %s, which is %d: raise Limits.%s to read it", e.Field, e.Value, e.Field)
}

// Is matches [ErrLimit].
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

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

	// decoded counts the bytes of attached messages that had to be copied because they came in a transfer encoding.
	decoded int
	size    int
}

func (m *meter) addPart(depth int) error {
	m.parts++
	if m.parts > m.limits.Parts {
		return &LimitError{Field: "Parts", Value: m.limits.Parts}
	}
	if depth > m.limits.Depth {
		return &LimitError{Field: "Depth", Value: m.limits.Depth}
	}
	return nil
}

func (m *meter) addHeader(fields, bytes int) error {
	m.headerFields += fields
	m.headerBytes += bytes
	if m.headerFields > m.limits.HeaderFields {
		return &LimitError{Field: "HeaderFields", Value: m.limits.HeaderFields}
	}
	if m.headerBytes > m.limits.HeaderBytes {
		return &LimitError{Field: "HeaderBytes", Value: m.limits.HeaderBytes}
	}
	return nil
}

// copies bounds the decoding of attached messages, in multiples of the size of the message. A chain of base64
// stays below 4; quoted-printable, which need not shrink, would otherwise cost its size again at every level.
const copies = 4

func (m *meter) mayDecode(n int) bool {
	m.decoded += n
	return m.decoded <= copies*m.size
}
