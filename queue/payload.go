package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// payload is the JSON of a job that may be enqueued.
func (q *Queue) payload(j *NewJob) (json.RawMessage, error) {
	if q.types != nil && !slices.Contains(q.types, j.Type) {
		return nil, fmt.Errorf("%w: Type is %q; this program knows %q (Config.Types)", ErrUnknownType, j.Type, q.types)
	}
	b, err := encode(j.Payload)
	if _, raw := j.Payload.(json.RawMessage); err == nil && !raw && replaced(b) {
		err = errors.New("not valid UTF-8: a text in it has bytes that would be replaced by U+FFFD")
	}
	if err != nil {
		return nil, fmt.Errorf("payload of %s: %w", j.Type, err)
	}
	if len(b) > q.maxPayload {
		return nil, fmt.Errorf("payload of %s has %d bytes; at most %d are allowed (Config.MaxPayload)", j.Type, len(b), q.maxPayload)
	}
	return b, nil
}

// replaced reports whether encoding/json has replaced bytes that are not valid UTF-8 by U+FFFD: it then writes an escape, and
// writes the character itself if that was in the text.
func replaced(text []byte) bool {
	escape := []byte(`\ufffd`)
	for {
		i := bytes.Index(text, escape)
		if i < 0 {
			return false
		}
		if before := text[:i]; (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0 {
			return true
		}
		text = text[i+len(escape):]
	}
}

func validTypes(types []string) error {
	for _, name := range types {
		if name == "" || validText("Types", name, maxNameLength) != nil {
			return fmt.Errorf("one of Types is %q; a type is a text of 1 to %d bytes", name, maxNameLength)
		}
	}
	return nil
}
