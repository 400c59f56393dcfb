package queue

import (
	"encoding/json"
	"fmt"

	"github.com/postroom-go/postroom/queue/driver"
)

// Errors, stacks and log lines are for people. If a codec fails to decode one, the reason replaces it: neither an attempt's end
// nor the other lines wait for it.

func errorPlace(jobID string) place { return place{"error", jobID} }
func stackPlace(jobID string) place { return place{"stack", jobID} }

func linePlace(l *LogLine, part string) place {
	return place{"log", l.JobID, fmt.Sprintf("%d %d %s", l.Attempt, l.Line, part)}
}

// stored is the outcome as it is written.
func (q *Queue) stored(out *driver.Outcome) *driver.Outcome {
	if q.codecs.first == nil || out.Error == "" && out.Stack == "" {
		return out
	}
	encoded := *out
	encoded.Error = q.codecs.encodeText(out.Error, errorPlace(out.Lease.JobID))
	encoded.Stack = q.codecs.encodeText(out.Stack, stackPlace(out.Lease.JobID))
	return &encoded
}

func (c *codecs) encodeText(text string, at place) string {
	if c.first == nil || text == "" {
		return text
	}
	stored, err := c.tryEncode([]byte(text), at)
	if err != nil {
		return notKept(err)
	}
	return string(stored)
}

func notKept(err error) string { return storable(fmt.Sprintf("not kept: %v", err)) }

// tryEncode is encode with a panic of the codec as an error.
func (c *codecs) tryEncode(plain []byte, at place) (stored json.RawMessage, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("codec %s panicked: %v", c.first.Name(), v)
		}
	}()
	return c.encode(plain, at, "")
}

func (c *codecs) decodeText(stored string, at place) string {
	if !isEncoded([]byte(stored)) || !json.Valid([]byte(stored)) {
		return stored
	}
	plain, err := c.decode(json.RawMessage(stored), at)
	if err != nil {
		return fmt.Sprintf("cannot be read: %v", err)
	}
	return string(plain)
}

func (c *codecs) encodeLines(lines []LogLine) {
	if c.first == nil {
		return
	}
	for i := range lines {
		l := &lines[i]
		l.Message = c.encodeText(l.Message, linePlace(l, "message"))
		if l.Attrs == nil {
			continue
		}
		attrs, err := c.tryEncode(l.Attrs, linePlace(l, "attrs"))
		if err != nil {
			attrs, l.Message = nil, notKept(err)
		}
		l.Attrs = attrs
	}
}

// readLines leaves attributes that cannot be decoded as they are stored.
func (c *codecs) readLines(lines []LogLine) {
	for i := range lines {
		l := &lines[i]
		l.Message = c.decodeText(l.Message, linePlace(l, "message"))
		l.Attrs, _ = c.decode(l.Attrs, linePlace(l, "attrs"))
	}
}

func (c *codecs) readAttempts(attempts []AttemptRecord) {
	for i := range attempts {
		a := &attempts[i]
		a.Error = c.decodeText(a.Error, errorPlace(a.JobID))
		a.Stack = c.decodeText(a.Stack, stackPlace(a.JobID))
	}
}
