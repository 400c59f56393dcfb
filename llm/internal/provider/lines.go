package provider

import "io"

// lineEnds is a stream of events whose lines end in LF. The standard allows CR alone and CR LF as well, which the SDKs
// do not all read. The JSON of an event has no raw line end.
type lineEnds struct {
	body   io.ReadCloser
	afterR bool // the last byte was CR
}

// Read implements [io.Reader].
func (l *lineEnds) Read(p []byte) (int, error) {
	for {
		n, err := l.body.Read(p)
		kept := 0
		for _, c := range p[:n] {
			skip := c == '\n' && l.afterR
			l.afterR = c == '\r'
			if skip {
				continue
			}
			if l.afterR {
				c = '\n'
			}
			p[kept] = c
			kept++
		}
		if kept > 0 || err != nil || len(p) == 0 {
			return kept, err
		}
	}
}

// Close implements [io.Closer].
func (l *lineEnds) Close() error { return l.body.Close() }
