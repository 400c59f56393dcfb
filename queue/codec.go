package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom/queue/driver"
)

// A Codec changes how payloads, results, the results and cursors of steps, errors with their stacks, and log lines are
// stored. The codec of package queueencrypt encrypts them. Encoded values are stored with the codec's name, beside
// plain values, so that a queue can be given a codec, or another one, at any time. It must be safe for concurrent use.
type Codec interface {
	// Name is stored with every encoded value. It must not be empty, and must not be the name of another encoding.
	Name() string
	// Encode and Decode are given the same place, which names the value and its job. A codec that authenticates
	// includes it, so that a value cannot be moved elsewhere. Decode returns [ErrNoCodec] for a value that another
	// configuration could decode.
	Encode(plain []byte, place string) ([]byte, error)
	Decode(encoded []byte, place string) ([]byte, error)
}

// A Fingerprinter is a Codec that says which jobs with a [Key] do the same. Without it a SHA-256 of type and payload is
// stored in the open, from which short payloads can be guessed.
type Fingerprinter interface {
	// Fingerprints returns the fingerprints of a job. The first is stored; the others may have been stored before.
	Fingerprints(jobType string, payload []byte) []string
}

// ErrNoCodec: a stored value was encoded with a codec, or with a key, that this queue does not have.
var ErrNoCodec = errors.New("encoded with a codec or a key that this queue was not given")

func isEncoded(stored []byte) bool { return driver.IsEncoded(stored) }

// unmarshal decodes a stored value for its user. It never returns an encoded value as if it were the plain one.
func unmarshal(stored json.RawMessage, v any) error {
	if isEncoded(stored) {
		return ErrNoCodec
	}
	return json.Unmarshal(stored, v)
}

// undecided is the verdict on an attempt that could not read a stored value: another process may have the codec.
func undecided(err error) error {
	if errors.Is(err, ErrNoCodec) {
		return Defer(err, time.Minute)
	}
	return Fatal(err)
}

type codecs struct {
	first Codec // nil: values are stored plainly
	all   map[string]Codec
}

func newCodecs(first Codec, others []Codec) (codecs, error) {
	c := codecs{first: first, all: make(map[string]Codec)}
	if first != nil {
		others = append([]Codec{first}, others...)
	}
	for _, codec := range others {
		if codec == nil {
			return c, errors.New("Codec or Decoders: one is nil")
		}
		name := codec.Name()
		if _, ok := c.all[name]; ok || name == "" {
			return c, fmt.Errorf("Codec or Decoders: the name %q is empty, or that of two codecs", name)
		}
		c.all[name] = codec
	}
	return c, nil
}

// A place names the encoded value, its job, and which of several values it is. It is formatted only if there is a
// codec.
type place [3]string

func (p place) String() string {
	if p[2] == "" {
		return p[0] + " " + p[1]
	}
	return p[0] + " " + p[1] + " " + p[2]
}

func payloadPlace(jobType, jobID string) place { return place{"payload", jobType, jobID} }
func resultPlace(jobID string) place           { return place{"result", jobID} }
func stepPlace(jobID, name string) place       { return place{"step", jobID, name} }
func signalPlace(jobID, name string) place     { return place{"signal", jobID, name} }
func cursorPlace(jobID, name string) place     { return place{"cursor", jobID, name} }

// encode returns the stored form of JSON.
func (c *codecs) encode(plain json.RawMessage, at place, fingerprint string) (json.RawMessage, error) {
	if c.first == nil {
		return plain, nil
	}
	data, err := c.first.Encode(plain, at.String())
	if err != nil {
		return nil, fmt.Errorf("codec %s: %w", c.first.Name(), err)
	}
	return json.Marshal(driver.Encoded{Codec: c.first.Name(), Fingerprint: fingerprint, Data: data})
}

// decode returns the JSON of a stored value; with an error it returns the stored value.
func (c *codecs) decode(stored json.RawMessage, at place) (json.RawMessage, error) {
	if !isEncoded(stored) {
		return stored, nil
	}
	var e driver.Encoded
	if err := json.Unmarshal(stored, &e); err != nil {
		return stored, fmt.Errorf("stored value of a codec: %w", err)
	}
	codec, ok := c.all[e.Codec]
	if !ok {
		return stored, fmt.Errorf("codec %q: %w", e.Codec, ErrNoCodec)
	}
	plain, err := codec.Decode(e.Data, at.String())
	if err != nil {
		return stored, fmt.Errorf("codec %s: %w", e.Codec, err)
	}
	return plain, nil
}

// fingerprints are those by which a job may be known, the first being the one to store.
func (c *codecs) fingerprints(jobType string, payload []byte) (all []string) {
	plain := driver.Fingerprint(jobType, payload)
	if c.first == nil {
		all = append(all, plain)
	} else if f, ok := c.first.(Fingerprinter); ok {
		all = append(all, f.Fingerprints(jobType, payload)...)
	}
	for _, codec := range c.all {
		if f, ok := codec.(Fingerprinter); ok && codec != c.first {
			all = append(all, f.Fingerprints(jobType, payload)...)
		}
	}
	return append(all, plain)
}

// readJob decodes the values that can be decoded; the rest stays as stored.
func (c *codecs) readJob(job *Job) error {
	payload, err := c.decode(job.Payload, payloadPlace(job.Type, job.ID))
	if err != nil {
		err = fmt.Errorf("payload: %w", err)
	}
	job.Payload = payload
	job.Result, _ = c.decode(job.Result, resultPlace(job.ID))
	job.LastError = c.decodeText(job.LastError, errorPlace(job.ID))
	return err
}

func (c *codecs) readSteps(steps []StepRecord) {
	for i := range steps {
		s := &steps[i]
		s.Result, _ = c.decode(s.Result, stepPlace(s.JobID, s.Name))
		s.Cursor, _ = c.decode(s.Cursor, cursorPlace(s.JobID, s.Name))
	}
}

// readClaimed is readJob before the job is given to a handler, so that nobody sees it change. A codec that panics fails
// only its job.
func (c *codecs) readClaimed(job *Job) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: string(debug.Stack())}
		}
	}()
	if job.Attempt >= driver.LastAttempt {
		return fmt.Errorf(
			"attempt %d cannot be told from the next: something else than the queue has altered the row of the job; put its attempt right, and retry it", job.Attempt)
	}
	return c.readJob(job)
}

// decoded runs a handler with the payload as it was enqueued.
func decoded(run HandlerFunc) HandlerFunc {
	return func(ctx context.Context, a *Attempt) error {
		if a.unread != nil {
			return undecided(a.unread)
		}
		return run(ctx, a)
	}
}

// encode is how payloads and results become JSON. A RawMessage may hold bytes that are no text; not every database
// would take them.
func encode(v any) (json.RawMessage, error) {
	b, err := json.Marshal(v)
	if err == nil && !utf8.Valid(b) {
		err = errors.New("not valid UTF-8")
	}
	if err == nil && isEncoded(b) {
		err = errors.New(`an object must not begin with the member "$codec", which is the queue's own`)
	}
	return b, err
}

// encodeAt returns the stored form of a value at a place.
func (q *Queue) encodeAt(at place, v any) (json.RawMessage, error) {
	plain, err := q.encode(v)
	if err != nil {
		return nil, err
	}
	return q.codecs.encode(plain, at, "")
}

// encode is the function encode with the bound on values that a handler stores.
func (q *Queue) encode(v any) (json.RawMessage, error) {
	plain, err := encode(v)
	if err == nil && len(plain) > q.maxPayload {
		return nil, fmt.Errorf("%w: it has %d bytes; at most %d are allowed (Config.MaxPayload)", ErrTooLarge,
			len(plain), q.maxPayload)
	}
	return plain, err
}

// Errors, stacks and log lines are for people. If a codec fails to decode one, the reason replaces it: neither an
// attempt's end nor the other lines wait for it.

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
