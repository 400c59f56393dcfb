package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jsondiff"
)

// A KeyScope is how long an idempotency key keeps others out: "forever", "unfinished", "period" or "coalesce".
type KeyScope = driver.KeyScope

// A Key makes enqueueing idempotent: while it is taken, enqueueing a job of the same type again returns the first job's
// id, and says in [EnqueueResult].Difference whether its payload is another. It belongs to the type that has taken it:
// enqueueing another type fails with [ErrKeyConflict]. Make one with [Forever], [WhileUnfinished], [ForPeriod] or
// [Coalesce].
type Key = driver.Key

// Forever is a key that is never freed: a job with this name is enqueued once.
func Forever(name string) Key { return Key{Name: name, Scope: driver.KeyForever} }

// WhileUnfinished is a key that is free again when its job has finished: jobs with this name do not overlap. A request
// that comes while the job runs is a duplicate, although the job may have read before what the request is about. So is
// one in a transaction, of a job that waits: the job may run and finish before the transaction commits, and does not
// see what it writes. If each request must be seen by a run that begins after it, use [Coalesce], for which the waiting
// job does not begin before the transaction has ended.
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

// uniqueBy begins a name that stands for members of the payload; a name of a program does not begin so.
const uniqueBy = "\x01by\x01"

// UniqueBy returns a name for a [Key] that stands for the job's type and the values that these members of its payload
// have: jobs of the type are the same if they agree in them. Without members, the whole payload counts. How long the
// key keeps others out is what it is given to:
//
//	queue.WhileUnfinished(queue.UniqueBy("account", "kind"))   // until the job has ended, however
//	queue.ForPeriod(queue.UniqueBy("account"), time.Hour)      // once an hour
//	queue.Forever(queue.UniqueBy())                            // never the same payload again
//
// The name is made when the job is enqueued: the type and the members as JSON, sorted by their names, or a hash where
// that is longer than 500 bytes. With a [Codec] it is the fingerprint of them, so that nothing of the payload is stored
// in the open: jobs that were enqueued without the codec, or with another first key of it, are not recognized. A member
// that is missing is as one that is null. A payload that is not an object is refused with [ErrInvalidJob] unless all of
// it counts.
func UniqueBy(members ...string) string {
	var name strings.Builder
	name.WriteString(uniqueBy)
	for _, member := range members {
		name.WriteString(member + "\x01")
	}
	return name.String()
}

// maxUniqueName is the length from which a name is hashed.
const maxUniqueName = 500

// nameKey replaces what UniqueBy has returned by the name of this job's key.
func (q *Queue) nameKey(row *driver.InsertJob, payload json.RawMessage) error {
	list, ok := strings.CutPrefix(row.Key.Name, uniqueBy)
	if !ok {
		return nil
	}
	var all any
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	err := decoder.Decode(&all)
	counts := all
	if members := strings.Split(strings.TrimSuffix(list, "\x01"), "\x01"); list != "" && err == nil {
		object, ok := all.(map[string]any)
		if !ok {
			return fmt.Errorf("%w: UniqueBy(%q) needs a payload that is an object; this one of %s is not", ErrInvalidJob,
				members, row.Type)
		}
		some := make(map[string]any, len(members))
		for _, member := range members {
			some[member] = object[member]
		}
		counts = some
	}
	canonical, errAgain := json.Marshal(counts)
	if err := errors.Join(err, errAgain); err != nil {
		return fmt.Errorf("%w: UniqueBy: %w", ErrInvalidJob, err)
	}
	row.Key.Name = row.Type + " " + string(canonical)
	if q.codecs.first != nil || len(row.Key.Name) > maxUniqueName {
		row.Key.Name = row.Type + " " + q.codecs.fingerprints(row.Type, canonical)[0]
	}
	return nil
}

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

// conflict describes the difference between rows[i] and the job that has its key, or returns it as an error where it is
// one. It returns nothing if there is none: another codec, or another key of it, has made the holder's fingerprint.
func (q *Queue) conflict(rows []driver.InsertJob, i int, result *driver.InsertResult) (difference string, err error) {
	given, held := &rows[i], result.Holder
	if held == nil {
		held = &driver.KeyHolder{}
	}
	for j := range rows[:i] { // not written yet
		if rows[j].ID == result.ID {
			held = &driver.KeyHolder{Type: rows[j].Type, Payload: rows[j].Payload}
		}
	}
	if held.Fingerprint == "" && held.Payload != nil { // SQLite's job_enqueue can make none
		held.Fingerprint = driver.Fingerprint(held.Type, held.Payload)
	}
	payload, err := q.codecs.decode(given.Payload, payloadPlace(given.Type, given.ID))
	if err == nil && slices.Contains(q.codecs.fingerprints(given.Type, payload), held.Fingerprint) {
		return "", nil
	}
	refused := q.strictKeys
	switch {
	case held.Type == "":
		difference = "that job, which is no longer kept, has another type or payload" // of before keys had types
	case held.Type != given.Type:
		refused = true
		difference = fmt.Sprintf("that job is of type %s, this one of type %s", held.Type, given.Type)
	case held.Payload == nil:
		difference = "that job, which is no longer kept, has another payload"
	default:
		// An error does not show values that a codec hides.
		hidden := isEncoded(held.Payload) || isEncoded(given.Payload)
		there, errThere := q.codecs.decode(held.Payload, payloadPlace(held.Type, result.ID))
		if difference = jsondiff.First(there, payload, hidden); err != nil || errThere != nil {
			difference = "the payloads differ"
		}
	}
	if !refused {
		return difference, nil
	}
	return "", &Error{Op: "enqueue", JobID: result.ID, Err: fmt.Errorf("%w: %q", ErrKeyConflict, given.Key.Name),
		Hint: difference + "; use another key"}
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
