package mime

import (
	"bytes"
	"io"
)

// A lineWriter breaks base64 into lines.
type lineWriter struct {
	w    io.Writer
	line int // bytes in the current line
}

func (l *lineWriter) Write(b []byte) (n int, err error) {
	for n < len(b) {
		if l.line == softLine {
			if _, err := io.WriteString(l.w, "\r\n"); err != nil {
				return n, err
			}
			l.line = 0
		}
		m, err := l.w.Write(b[n:min(len(b), n+softLine-l.line)])
		n, l.line = n+m, l.line+m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// A crlfWriter ends all lines in CRLF, whether they end in CR, LF or both.
type crlfWriter struct {
	w  io.Writer
	cr bool // the last byte was a CR, whose line has been ended
}

func (c *crlfWriter) Write(b []byte) (n int, err error) {
	for n < len(b) {
		if b[n] == '\n' && c.cr {
			n, c.cr = n+1, false
			continue
		}
		end := bytes.IndexAny(b[n:], "\r\n")
		if end < 0 {
			end = len(b) - n
		}
		if _, err := c.w.Write(b[n : n+end]); err != nil {
			return n, err
		}
		n, c.cr = n+end, false
		if n == len(b) {
			break
		}
		if _, err := io.WriteString(c.w, "\r\n"); err != nil {
			return n, err
		}
		c.cr = b[n] == '\r'
		n++
	}
	return n, nil
}
