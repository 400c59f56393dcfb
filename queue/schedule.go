package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/timetable"
)

// A Schedule enqueues a job repeatedly, at the instants of a cron expression. It is a row in the database. When an
// instant has come, the first [Dispatcher] to check enqueues the job and advances the schedule, in one transaction, so
// that each instant fires once over all machines, and none is lost by a restart or a crash.
//
// A job that a schedule has enqueued has two tags, "schedule:" with the schedule's name and "fires:" with the instant;
// [Job.Firing] reads them.
type Schedule struct {
	// Name identifies the schedule. Not empty, at most 80 bytes.
	Name string

	// Cron says when it fires:
	//
	//   - five fields, minute, hour, day of month, month and day of week, such as "0 7 * * MON", or six with seconds in
	//     front. Each is *, a number, a name (JAN, MON), a range 1-5, a step */15, or several of those with commas. When
	//     both the day of month and the day of week are named, either will do.
	//   - @hourly, @daily, @weekly (Sunday), @monthly or @yearly: at the beginning of each, in the zone.
	//   - @every and a duration, such as "@every 90m", of whole seconds and at least 1s: counted on from when the
	//     schedule was set, restarts notwithstanding.
	Cron string

	// Zone is the time zone of Cron, by its name in the IANA database, such as "Europe/Berlin". Default "UTC". It is
	// looked up on the machine; a program for machines that have no such database (small containers) imports
	// time/tzdata.
	//
	// When clocks change, a schedule for certain hours follows the wall clock: an instant in a gap fires once, when the
	// gap ends, and an instant that the clocks show twice fires the first time. A schedule for every hour follows
	// elapsed time: no instant is omitted or delayed.
	Zone string

	// Job is the job to enqueue, with its options. Any dispatcher may run it, and its type need not be known where it
	// is enqueued. A [WhileUnfinished] key keeps firings from overlapping: a firing while an earlier job is not
	// finished enqueues nothing. NotBefore, ExpiresAt and [Forever] keys are not allowed; at most 18 Tags.
	Job NewJob

	// CatchUp says what to do about instants at which no dispatcher ran. Default [CatchUpOnce].
	CatchUp CatchUp
}

// A CatchUp is what a schedule does about missed instants: those that are found more than a minute late because no
// dispatcher ran, the database was away, or a clock was set forward.
type CatchUp string

// The ways to catch up.
const (
	// CatchUpOnce fires once for all missed instants, as of the latest.
	CatchUpOnce CatchUp = "once"
	// CatchUpSkip skips missed instants.
	CatchUpSkip CatchUp = "skip"
	// CatchUpAll fires for each missed instant, all at once and in order, at most for the latest 1000.
	CatchUpAll CatchUp = "all"
)

const (
	maxCatchUp      = 1000
	onTime          = time.Minute
	maxScheduleName = 80
	maxFiringTags   = maxTags - 2
)

// The conditions of schedules that a caller can act on.
var (
	// ErrInvalidSchedule: the value is not a valid schedule.
	ErrInvalidSchedule = errors.New("invalid schedule")
	// ErrScheduleNotFound: no schedule has the name.
	ErrScheduleNotFound = driver.ErrScheduleNotFound
)

// A StoredSchedule is a schedule as it is kept.
type StoredSchedule struct {
	// Schedule has its Zone and CatchUp filled in; the payload of its Job is a json.RawMessage.
	Schedule

	Paused bool
	// NextAt is when it fires next; zero while it is paused.
	NextAt time.Time
	// LastAt is the latest instant it has fired for; zero before the first.
	LastAt time.Time
	// Fault is why it cannot fire as it is stored, on this machine: its zone is not known here, its Cron is not
	// understood by this version, or its payload was encoded with a [Codec] that this queue was not given. Empty: it
	// can.
	Fault string

	CreatedAt time.Time
	UpdatedAt time.Time // when it was last set, paused or resumed
}

// normal checks the schedule and returns it as it is stored, with its timetable.
func (s Schedule) normal(q *Queue) (Schedule, timetable.Timetable, error) {
	if s.Zone == "" {
		s.Zone = "UTC"
	}
	if s.CatchUp == "" {
		s.CatchUp = CatchUpOnce
	}
	if err := s.validate(); err != nil {
		return s, nil, err
	}
	table, err := timetable.New(s.Cron, s.Zone)
	if err != nil {
		return s, nil, fmt.Errorf("%w: Schedule.%w", ErrInvalidSchedule, err)
	}
	if table.Next(q.now()).IsZero() {
		return s, nil, fmt.Errorf("%w: Schedule.Cron is %q, which never comes", ErrInvalidSchedule, cutID(s.Cron))
	}
	payload, err := q.payload(&s.Job)
	if err != nil {
		return s, nil, fmt.Errorf("%w: Schedule.Job: %w", ErrInvalidSchedule, err)
	}
	if s.Job.PayloadVersion == 0 {
		s.Job.PayloadVersion = versionOf(s.Job.Payload)
	}
	s.Job.Payload = payload
	return s, table, nil
}

func (s *Schedule) validate() error {
	invalid := func(format string, args ...any) error {
		return fmt.Errorf("%w: Schedule."+format, append([]any{ErrInvalidSchedule}, args...)...)
	}
	switch {
	case s.Name == "":
		return invalid("Name is empty")
	case validText("Name", s.Name, maxScheduleName) != nil:
		return invalid("Name is %q; it must be text of at most %d bytes", cutID(s.Name), maxScheduleName)
	case s.CatchUp != CatchUpOnce && s.CatchUp != CatchUpSkip && s.CatchUp != CatchUpAll:
		return invalid("CatchUp is %q; use queue.CatchUpOnce, CatchUpSkip or CatchUpAll", s.CatchUp)
	case !s.Job.NotBefore.IsZero():
		return invalid("Job.NotBefore is set; Cron says when the job is due")
	case !s.Job.ExpiresAt.IsZero():
		return invalid("Job.ExpiresAt is set; it would be over for all firings after it")
	case s.Job.Key.Scope == driver.KeyForever:
		return invalid("Job.Key is for ever; there would be no second firing")
	case len(s.Job.Tags) > maxFiringTags:
		return invalid("Job.Tags are %d; at most %d are allowed beside the two of the firing", len(s.Job.Tags),
			maxFiringTags)
	}
	if err := s.Job.validate(); err != nil {
		return invalid("Job: %w", err)
	}
	return nil
}

// same reports whether the schedules, as they are stored, say the same.
func (s Schedule) same(other Schedule) bool {
	payload, _ := s.Job.Payload.(json.RawMessage)
	others, _ := other.Job.Payload.(json.RawMessage)
	s.Job.Payload, other.Job.Payload = nil, nil
	return string(payload) == string(others) && reflect.DeepEqual(s, other)
}

// A Firing is for which schedule, and for which of its instants, a job was enqueued.
type Firing struct {
	Schedule string
	// At is the instant the schedule named, which may be long before the job was enqueued; see [CatchUp].
	At time.Time
}

const (
	tagSchedule = "schedule:"
	tagFires    = "fires:"
)

// Firing returns the firing of a schedule that enqueued the job; false if there is none.
func (j *Job) Firing() (Firing, bool) {
	var f Firing
	for _, tag := range j.Tags {
		if name, ok := strings.CutPrefix(tag, tagSchedule); ok {
			f.Schedule = name
		}
		if at, ok := strings.CutPrefix(tag, tagFires); ok {
			f.At, _ = time.Parse(time.RFC3339Nano, at)
		}
	}
	return f, f.Schedule != "" && !f.At.IsZero()
}

// jobFor is the job of one firing.
func (s *Schedule) jobFor(at time.Time) NewJob {
	job := s.Job
	job.Tags = append([]string{tagSchedule + s.Name, tagFires + at.UTC().Format(time.RFC3339Nano)}, job.Tags...)
	return job
}

// Between the driver and the rest: payloads are stored as the queue's [Codec] makes them, and the options of a job as
// JSON.

func (q *Queue) addSchedule(ctx context.Context, tx *driver.WriteTx, s StoredSchedule) (added bool, err error) {
	row, err := q.scheduleRow(&s)
	if err != nil {
		return false, err
	}
	return q.driver.AddSchedule(ctx, tx, row)
}

func (q *Queue) lockSchedule(ctx context.Context, tx *driver.WriteTx, name string) (*StoredSchedule, error) {
	row, err := q.driver.LockSchedule(ctx, tx, lookup(name))
	if err != nil {
		return nil, err
	}
	s := q.storedSchedule(row)
	return &s, nil
}

func (q *Queue) updateSchedule(ctx context.Context, tx *driver.WriteTx, s StoredSchedule) error {
	row, err := q.scheduleRow(&s)
	if err != nil {
		return err
	}
	return q.driver.UpdateSchedule(ctx, tx, row)
}

// storedSchedule leaves a payload that cannot be decoded as it is stored. A row that cannot be read has a Fault, and
// does not keep others from firing.
func (q *Queue) storedSchedule(row *driver.Schedule) StoredSchedule {
	s := StoredSchedule{
		Schedule: Schedule{Name: row.Name, Cron: row.Cron, Zone: row.Zone, CatchUp: CatchUp(row.CatchUp),
			Job: NewJob{Type: row.Type}},
		Paused: row.Paused, NextAt: row.NextAt, LastAt: row.LastAt, CreatedAt: row.CreatedAt,
		UpdatedAt: row.UpdatedAt,
	}
	if err := json.Unmarshal(row.Options, &s.Job.Options); err != nil { //nolint:musttag // its fields' names are a promise to users
		s.Fault = fmt.Sprintf("its options_json: %v", err)
	}
	payload, err := q.codecs.decode(row.Payload, schedulePlace(row.Type, row.Name))
	if err != nil {
		s.Fault = fmt.Sprintf("its payload: %v", err)
	}
	s.Job.Payload = payload
	return s
}

func (q *Queue) scheduleRow(s *StoredSchedule) (driver.Schedule, error) {
	row := driver.Schedule{
		Name: s.Name, Cron: s.Cron, Zone: s.Zone, CatchUp: string(s.CatchUp), Type: s.Job.Type,
		Paused: s.Paused, NextAt: s.NextAt, LastAt: s.LastAt, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
	var err error
	if row.Options, err = json.Marshal(s.Job.Options); err != nil { //nolint:musttag // as above
		return row, err
	}
	row.Payload, _ = s.Job.Payload.(json.RawMessage)
	if !isEncoded(row.Payload) {
		row.Payload, err = q.codecs.encode(row.Payload, schedulePlace(row.Type, row.Name), "")
	}
	return row, err
}

func schedulePlace(jobType, name string) place { return place{"schedule", jobType, name} }
