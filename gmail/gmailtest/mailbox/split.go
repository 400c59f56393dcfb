package mailbox

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// chunkSize is the length up to which whole lines are examined. The rest of a longer line is copied unchanged.
const chunkSize = 64 << 10

// peekSize is the number of bytes of the next line that are examined: enough for the name of any header field.
const peekSize = 256

// A splitter splits the bytes of an mbox into messages (RFC 4155 and its relatives mboxo, mboxrd and mboxcl). It
// holds one message at a time. It never trusts a Content-Length field, which mail has for other reasons too.
type splitter struct {
	in   *bufio.Reader
	from []byte // the From line of the next message; nil before the first one and after the last
	body bytes.Buffer
	size int64 // of the message, including dropped bytes
}

func newSplitter(r io.Reader) *splitter {
	return &splitter{in: bufio.NewReaderSize(r, chunkSize)}
}

// start moves to the first From line. It returns io.EOF if there is none, and also the first bytes if the file begins
// with other text.
func (s *splitter) start() (instead []byte, err error) {
	if bom, _ := s.in.Peek(3); bytes.Equal(bom, []byte("\xEF\xBB\xBF")) {
		_, _ = s.in.Discard(len(bom))
	}
	for {
		line, err := s.line()
		if len(line) == 0 && err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !bytes.HasPrefix(line, fromPrefix) {
			return bytes.Clone(line), nil
		}
		s.from = bytes.Clone(line)
		return nil, nil
	}
}

// next reads one message. It returns io.EOF after the last one; at any other error the message is incomplete.
func (s *splitter) next() (from, raw []byte, size int64, err error) {
	if s.from == nil {
		return nil, nil, 0, io.EOF
	}
	from, s.from = s.from, nil
	s.body.Reset()
	s.size = 0
	afterBlank, lineStart := false, true
	for {
		line, err := s.line()
		atEnd := errors.Is(err, io.EOF)
		if err != nil && !atEnd {
			return nil, nil, 0, err
		}
		if lineStart && bytes.HasPrefix(line, fromPrefix) {
			line = bytes.Clone(line) // looking ahead may move the bytes
			if ahead, _ := s.in.Peek(peekSize); isSeparator(line, ahead, afterBlank) {
				s.from = line
				break
			}
		}
		if lineStart {
			line = unquoted(line)
		}
		s.keep(line)
		afterBlank = lineStart && isBlank(line)
		lineStart = bytes.HasSuffix(line, []byte("\n"))
		if atEnd {
			break
		}
	}
	return from, s.message(), s.size, nil
}

// line reads to the next line end, or as much of the line as fits the buffer. The result is valid until the next
// read. At the end of the input it returns the rest together with io.EOF.
func (s *splitter) line() ([]byte, error) {
	line, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		err = nil
	}
	return line, err
}

func (s *splitter) keep(line []byte) {
	s.size += int64(len(line))
	if s.size <= MaxMessage+2 { // the blank line that the format adds is not part of the message
		s.body.Write(line)
	}
}

// message returns a copy of the message, without the blank line that the format adds after each message.
func (s *splitter) message() []byte {
	raw := s.body.Bytes()
	if whole := s.size == int64(len(raw)); whole {
		raw = withoutBlankLine(raw)
		s.size = int64(len(raw))
	}
	if s.size > MaxMessage {
		raw = raw[:OversizeKept]
	}
	return append([]byte{}, raw...) // an empty message is not the absence of one
}

func withoutBlankLine(raw []byte) []byte {
	for _, blank := range []string{"\r\n", "\n"} {
		rest, found := bytes.CutSuffix(raw, []byte(blank))
		if found && (len(rest) == 0 || rest[len(rest)-1] == '\n') {
			return rest
		}
	}
	return raw
}

func isBlank(line []byte) bool {
	return len(line) > 0 && len(bytes.TrimRight(line, "\r\n")) == 0
}
