package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A KeyScope is how long an idempotency key keeps others out: "forever", "unfinished", "period" or "coalesce".
type KeyScope = driver.KeyScope

// A Key makes enqueueing idempotent: while it is taken, enqueueing the same type and payload again returns the first
// job's id, and anything else fails with [ErrKeyConflict]. Make one with [Forever], [WhileUnfinished], [ForPeriod] or
// [Coalesce].
type Key = driver.Key

// Forever is a key that is never freed: a job with this name is enqueued once.
func Forever(name string) Key { return Key{Name: name, Scope: driver.KeyForever} }

// WhileUnfinished is a key that is free again when its job has finished: jobs with this name do not overlap.
func WhileUnfinished(name string) Key { return Key{Name: name, Scope: driver.KeyUnfinished} }

// ForPeriod is a key that is taken for a period from the enqueueing on, whatever the outcome of the job: at most one
// job with this name is enqueued in that period. The time is measured by the server's clock on PostgreSQL, and by that
// of the enqueueing machine on SQLite.
func ForPeriod(name string, period time.Duration) Key {
	return Key{Name: name, Scope: driver.KeyPeriod, Period: period}
}

// Coalesce is a key that is free again when its job begins: of the jobs with this name one runs and at most one waits.
// The waiting one stands for all requests made meanwhile and begins when the first has ended. If a job is to run again
// while another already waits, it is canceled, with a LastError that names the other, which does the same work from the
// beginning. So a job that coalesces must not contain work that must not be repeated. The queue sets the job's
// LimitKey.
func Coalesce(name string) Key { return Key{Name: name, Scope: driver.KeyCoalesce} }

func validKey(k Key) error {
	switch {
	case k == Key{}:
		return nil
	case k.Name == "":
		return fmt.Errorf("%w: Key.Name is empty", ErrInvalidJob)
	case !slices.Contains([]KeyScope{driver.KeyForever, driver.KeyUnfinished, driver.KeyPeriod, driver.KeyCoalesce},
		k.Scope):
		return fmt.Errorf("%w: Key.Scope is %q; use queue.Forever, WhileUnfinished, ForPeriod or Coalesce",
			ErrInvalidJob, k.Scope)
	case k.Scope == driver.KeyPeriod && k.Period < time.Millisecond:
		return fmt.Errorf("%w: Key.Period is %v; it must be at least 1ms", ErrInvalidJob, k.Period)
	case k.Scope != driver.KeyPeriod && k.Period != 0:
		return fmt.Errorf("%w: Key.Period is %v; a key of scope %s has none", ErrInvalidJob, k.Period, k.Scope)
	}
	return validText("Key.Name", k.Name, maxKeyLength)
}

// conflict describes the difference between rows[i] and the job that has its key. It returns nil if there is none:
// another codec, or another key of it, has made the holder's fingerprint.
func (q *Queue) conflict(rows []driver.InsertJob, i int, result *driver.InsertResult) error {
	given, held := &rows[i], result.Holder
	if held == nil {
		held = &driver.KeyHolder{}
	}
	for j := range rows[:i] { // not written yet
		if rows[j].ID == result.ID {
			held = &driver.KeyHolder{Type: rows[j].Type, Payload: rows[j].Payload}
		}
	}
	payload, err := q.codecs.decode(given.Payload, payloadPlace(given.Type, given.ID))
	if err == nil && slices.Contains(q.codecs.fingerprints(given.Type, payload), held.Fingerprint) {
		return nil
	}
	var hint string
	switch {
	case held.Type == "":
		hint = "that job, which is no longer kept, has another type or payload"
	case held.Type != given.Type:
		hint = fmt.Sprintf("that job is of type %s, this one of type %s", held.Type, given.Type)
	default:
		// An error does not show values that a codec hides.
		hidden := isEncoded(held.Payload) || isEncoded(given.Payload)
		there, errThere := q.codecs.decode(held.Payload, payloadPlace(held.Type, result.ID))
		if hint = difference(there, payload, hidden); err != nil || errThere != nil {
			hint = "the payloads differ"
		}
	}
	return &Error{Op: "enqueue", JobID: result.ID, Err: fmt.Errorf("%w: %q", ErrKeyConflict, given.Key.Name),
		Hint: hint + "; use another key"}
}

// difference names the first place in which two payloads differ and, unless hidden, their values there.
func difference(held, given []byte, hidden bool) string {
	a, errA := decodeAny(held)
	b, errB := decodeAny(given)
	if errA != nil || errB != nil {
		return "the payloads differ"
	}
	path, x, y := firstDifference("payload", a, b)
	if path == "" {
		return "the payloads differ only in how they are written"
	}
	if hidden {
		return cut(path, maxPath) + " is another there"
	}
	return fmt.Sprintf("%s is %s there, %s here", cut(path, maxPath), brief(x), brief(y))
}

func decodeAny(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// absent represents a member or an element that one side lacks.
type absent struct{}

// firstDifference returns an empty path for values that are the same. Members are gone through in the order of their
// names.
func firstDifference(path string, a, b any) (where string, x, y any) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return differentMember(path, a, b)
		}
	case []any:
		if b, ok := b.([]any); ok {
			return differentElement(path, a, b)
		}
	}
	if reflect.DeepEqual(a, b) {
		return "", nil, nil
	}
	return path, a, b
}

func differentMember(path string, a, b map[string]any) (where string, x, y any) {
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if where, x, y = firstDifference(path+"."+name, member(a, name), member(b, name)); where != "" {
			return where, x, y
		}
	}
	return "", nil, nil
}

func member(object map[string]any, name string) any {
	if v, ok := object[name]; ok {
		return v
	}
	return absent{}
}

func differentElement(path string, a, b []any) (where string, x, y any) {
	for i := range max(len(a), len(b)) {
		if where, x, y = firstDifference(fmt.Sprintf("%s[%d]", path, i), element(a, i), element(b, i)); where != "" {
			return where, x, y
		}
	}
	return "", nil, nil
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return absent{}
}

// An error shows this many characters of a value and of its path.
const (
	maxBrief = 80
	maxPath  = 200
)

func brief(v any) string {
	if v == (any)(absent{}) {
		return "absent"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("a %T", v)
	}
	return cut(string(text), maxBrief)
}

// cut shortens text to so many characters.
func cut(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}

// A job that coalesces, and was to run again, is canceled by [driver.Finisher].Finish if another already waits under
// its key. The reported outcome is the cancellation, not the retry that its handler's error requested.

// coalescing names the job if it may have been superseded.
func coalescing(job *Job, out *driver.Outcome, answer error) (ids []string) {
	if answer == nil && out.State == StateQueued && job.Key.Scope == driver.KeyCoalesce {
		ids = append(ids, job.ID)
	}
	return ids
}

// superseded returns, for jobs that the transaction has ended and that will not run again, the text that names the jobs
// that superseded them.
func (q *Queue) superseded(ctx context.Context, tx *driver.WriteTx, ids []string) (map[string]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	jobs, err := q.driver.ReadJobs(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	why := make(map[string]string, len(jobs))
	for _, job := range jobs {
		if job.State == StateCanceled {
			why[job.ID] = job.LastError
		}
	}
	return why, nil
}

// unless turns the event of an attempt's end into that of its job, if the job was superseded.
func (e Event) unless(superseded string) Event {
	if superseded == "" {
		return e
	}
	e.Kind, e.Error, e.NotBefore = EventCanceled, superseded, time.Time{}
	if e.Ended == driver.KindReleased {
		e.Ended = ""
	}
	return e
}
