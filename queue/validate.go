package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom/queue/driver"
)

const (
	defaultMaxAttempts = 5
	maxMaxAttempts     = 1000
	maxNameLength      = 200
	maxKeyLength       = 1000
	maxTags            = 20
	maxTagLength       = 100
	defaultMaxPayload  = 1 << 20
)

// lastInstant is the last instant that is stored in a fixed width; the first is the zero time.
var lastInstant = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

func validTime(kind error, field string, t time.Time) error {
	if t.Before(time.Time{}) || t.After(lastInstant) {
		return fmt.Errorf("%w: %s is %v; it must be within the years 1 and 9999", kind, field, t)
	}
	return nil
}

func (j *NewJob) validate() error {
	switch {
	case j.Type == "":
		return fmt.Errorf("%w: Type is empty", ErrInvalidJob)
	case j.Type == driver.AllTypes:
		return fmt.Errorf("%w: Type is %q, which stands for all types (ForAll)", ErrInvalidJob, driver.AllTypes)
	case j.Priority < math.MinInt32 || j.Priority > math.MaxInt32:
		return fmt.Errorf("%w: Priority is %d; it must fit 32 bits", ErrInvalidJob, j.Priority)
	case j.MaxAttempts < 0 || j.MaxAttempts > maxMaxAttempts:
		return fmt.Errorf("%w: MaxAttempts is %d; it must be within 1 and %d", ErrInvalidJob, j.MaxAttempts, maxMaxAttempts)
	}
	switch coalesces := j.Key.Scope == driver.KeyCoalesce; {
	case coalesces && j.LimitKey == driver.CoalescePrefix+j.Key.Name: // as a stored job has them
	case strings.HasPrefix(j.LimitKey, driver.CoalescePrefix):
		return fmt.Errorf("%w: LimitKey %q begins with %q, which is the queue's own", ErrInvalidJob, cutID(j.LimitKey), driver.CoalescePrefix)
	case coalesces && j.LimitKey != "":
		return fmt.Errorf("%w: a job with a Key of scope coalesce has no LimitKey of its own (%q)", ErrInvalidJob, cutID(j.LimitKey))
	}
	for _, err := range []error{
		j.validTimes(), validText("Type", j.Type, maxNameLength), validText("LimitKey", j.LimitKey, maxNameLength),
		validText("UserID", j.UserID, maxNameLength), validTags(j.Tags), validKey(j.Key),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *NewJob) validTimes() error {
	if err := validTime(ErrInvalidJob, "NotBefore", j.NotBefore); err != nil {
		return err
	}
	if err := validTime(ErrInvalidJob, "ExpiresAt", j.ExpiresAt); err != nil {
		return err
	}
	if !j.ExpiresAt.IsZero() && j.ExpiresAt.Before(j.NotBefore) {
		return fmt.Errorf("%w: ExpiresAt (%v) is before NotBefore (%v): the job could never run", ErrInvalidJob, j.ExpiresAt, j.NotBefore)
	}
	return nil
}

var errInvalidStep = errors.New("invalid step")

var errInvalidFilter = errors.New("invalid filter")

// validContext refuses a nil context. Package database/sql panics on one, some of its calls with the pool's lock held: whoever
// recovered from that would wait for ever at the next call.
func validContext(ctx context.Context) error {
	if ctx == nil {
		return driver.ErrNilContext
	}
	return nil
}

func (f *Filter) validate() error {
	for field, names := range map[string][]string{
		"Types": f.Types, "UserID": {f.UserID}, "Key": {f.Key}, "LimitKey": {f.LimitKey}, "Tags": f.Tags, "Before": {f.Before},
	} {
		for _, name := range names {
			if !isText(name) {
				return noText(errInvalidFilter, field, name)
			}
		}
	}
	for _, state := range f.States {
		if !isText(string(state)) {
			return noText(errInvalidFilter, "States", string(state))
		}
		if !slices.Contains(States(), state) {
			return fmt.Errorf("%w: States has %q; the states are %q", errInvalidFilter, state, States())
		}
	}
	if err := validTime(errInvalidFilter, "CreatedFrom", f.CreatedFrom); err != nil {
		return err
	}
	return validTime(errInvalidFilter, "CreatedBefore", f.CreatedBefore)
}

func validStep(name string) error {
	if name == "" {
		return fmt.Errorf("%w: a step needs a name", errInvalidStep)
	}
	return validTextOf(errInvalidStep, "its name", name, maxKeyLength)
}

var errInvalidWorker = errors.New("invalid worker")

func validWorker(id string) error { return validTextOf(errInvalidWorker, "its id", id, maxNameLength) }

func validMaxPayload(bytes int) error {
	if bytes < 1 {
		return fmt.Errorf("MaxPayload is %d; it must be at least 1", bytes)
	}
	return nil
}

func validKey(k Key) error {
	switch {
	case k == Key{}:
		return nil
	case k.Name == "":
		return fmt.Errorf("%w: Key.Name is empty", ErrInvalidJob)
	case !slices.Contains([]KeyScope{driver.KeyForever, driver.KeyUnfinished, driver.KeyPeriod, driver.KeyCoalesce}, k.Scope):
		return fmt.Errorf("%w: Key.Scope is %q; use queue.Forever, WhileUnfinished, ForPeriod or Coalesce", ErrInvalidJob, k.Scope)
	case k.Scope == driver.KeyPeriod && k.Period < time.Millisecond:
		return fmt.Errorf("%w: Key.Period is %v; it must be at least 1ms", ErrInvalidJob, k.Period)
	case k.Scope != driver.KeyPeriod && k.Period != 0:
		return fmt.Errorf("%w: Key.Period is %v; a key of scope %s has none", ErrInvalidJob, k.Period, k.Scope)
	}
	return validText("Key.Name", k.Name, maxKeyLength)
}

func validTags(tags []string) error {
	if len(tags) > maxTags {
		return fmt.Errorf("%w: there are %d Tags; at most %d are allowed", ErrInvalidJob, len(tags), maxTags)
	}
	for _, tag := range tags {
		if tag == "" {
			return fmt.Errorf("%w: one of the Tags is empty", ErrInvalidJob)
		}
		if err := validText("Tags", tag, maxTagLength); err != nil {
			return err
		}
	}
	return nil
}

// validText reports whether every database takes s as text, and s is no longer than a name should be.
func validText(field, s string, limit int) error { return validTextOf(ErrInvalidJob, field, s, limit) }

func validTextOf(kind error, field, s string, limit int) error {
	switch {
	case len(s) > limit:
		return fmt.Errorf("%w: %s has %d bytes; at most %d are allowed", kind, field, len(s), limit)
	case !isText(s):
		return noText(kind, field, s)
	}
	return nil
}

// isText reports whether every database takes s as text.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func noText(kind error, field, s string) error {
	return fmt.Errorf("%w: %s %q holds bytes that are no text", kind, field, s)
}

// lookup returns the id or name to query. Invalid UTF-8 matches no row, and neither does the empty string.
func lookup(id string) string {
	if isText(id) {
		return id
	}
	return ""
}
