package drivertest

import (
	"context"
	"reflect"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

var enqueueCases = []conformanceCase{
	{
		name:        "Insert/keeps every field",
		explanation: "what was enqueued must be what is claimed: payload byte for byte, priority, limits, key and time",
		run: func(s *suite) {
			later := s.now().Add(time.Hour).UTC().Truncate(time.Microsecond)
			payload := `{"text":"ünïcödé \u0000 \"quoted\"","n":12345678901234567890,"list":[1,null]}`
			want := newJob(withPayload(payload), withKey(forever("k'ey")))
			want.TraceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
			fill(reflect.ValueOf(&want.Options).Elem(), later)
			s.insert(want)

			got := s.job(want.ID)
			require.Equal(s, payload, string(got.Payload))
			require.Equal(s, "t", got.Type)
			require.Equal(s, want.TraceParent, got.TraceParent)
			require.Equal(s, want.Options, got.Options)
			require.Equal(s, driver.StateQueued, got.State)
			require.Zero(s, got.Attempt)
			require.Nil(s, got.Result)
			require.Zero(s, got.StartedAt)
			require.Zero(s, got.FinishedAt)
			require.WithinDuration(s, s.now(), got.CreatedAt, time.Minute)
			require.Equal(s, got.CreatedAt, got.UpdatedAt)
		},
	},
	{
		name:        "Insert/is due at the transaction's time when it says none or a past one",
		explanation: "jobs without a time are due at once, in the order in which they came",
		run: func(s *suite) {
			jobs := []driver.InsertJob{newJob(), newJob(dueAt(s.now().Add(-24 * time.Hour)))}
			var now time.Time
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				now = tx.Now()
				_, err := s.d.Insert(ctx, tx, jobs)
				return err
			})
			for _, j := range jobs {
				require.True(s, now.Equal(s.job(j.ID).NotBefore))
			}
			require.Equal(s, idsOf(jobs), ids(s.claim(2)))
		},
	},
	{
		name:        "Insert/answers in order and lets equal keys of one batch meet",
		explanation: "the second job of a batch with the same key is a duplicate of the first",
		run: func(s *suite) {
			key := withKey(forever("k"))
			first, other, second := newJob(key), newJob(), newJob(key)
			results := s.insert(first, other, second)
			require.Equal(s, []driver.InsertResult{{ID: first.ID}, {ID: other.ID}, {ID: first.ID, Duplicate: true}},
				results)
			_, err := s.d.Job(s.Context(), second.ID)
			require.ErrorIs(s, err, driver.ErrJobNotFound, "a duplicate is not written")
		},
	},
	{
		name:        "Insert/distinguishes a duplicate from a conflict",
		explanation: "a taken key answers with its holder, and says whether type and payload are the same",
		run: func(s *suite) {
			for _, k := range []driver.Key{forever("f"), whileUnfinished("u"), forPeriod("p", time.Hour),
				coalesce("c")} {
				key := withKey(k)
				first := newJob(key)
				s.insert(first)
				require.Equal(s, driver.InsertResult{ID: first.ID, Duplicate: true}, s.insert(newJob(key))[0])
				conflict := driver.InsertResult{ID: first.ID, Duplicate: true, Conflict: true,
					Holder: &driver.KeyHolder{
						Fingerprint: first.Fingerprint, Type: first.Type, Payload: first.Payload,
					}}
				require.Equal(s, conflict, s.insert(newJob(key, withPayload(`{"n":2}`)))[0], "another payload")
				require.Equal(s, conflict, s.insert(newJob(key, ofType("u")))[0], "another type")
			}
		},
	},
	{
		name:        "Key/forever survives its job's end",
		explanation: "what the key names happens once; a finished job still holds it",
		run: func(s *suite) {
			for _, end := range ends {
				key := withKey(forever(end.name))
				job := s.started(key)
				end.end(s, job)
				require.Equal(s, driver.InsertResult{ID: job.ID, Duplicate: true}, s.insert(newJob(key))[0], end.name)
			}
		},
	},
	{
		name:        "Key/forever survives the job's row",
		explanation: "pruning a finished job does not free its key",
		run: func(s *suite) {
			key := withKey(forever("k"))
			job := s.started(key)
			require.NoError(s, s.finish(completed(job.Lease())))
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := tx.ExecContext(ctx, "DELETE FROM "+s.table("jobs")+" WHERE id = $1", job.ID)
				return err
			})
			require.True(s, s.insert(newJob(key))[0].Duplicate)
		},
	},
	{
		name:        "Key/unfinished is freed by each end",
		explanation: "complete, fail and cancel free a key of scope unfinished; a retry that is scheduled does not",
		run: func(s *suite) {
			for _, end := range ends {
				key := withKey(whileUnfinished(end.name))
				job := s.started(key)
				require.True(s, s.insert(newJob(key))[0].Duplicate, "while it runs")
				s.requeue(job)
				require.True(s, s.insert(newJob(key))[0].Duplicate, "while it waits for its next attempt")
				job = s.claim(1)[0]
				end.end(s, job)

				next := newJob(key, withPayload(`{"another":"payload"}`))
				require.Equal(s, driver.InsertResult{ID: next.ID}, s.insert(next)[0], end.name)
				require.NoError(s, s.cancel(next.ID), "a queued job can be canceled")
			}
		},
	},
}

// ends are the ways a running job ends.
var ends = []struct {
	name string
	end  func(s *suite, job driver.Job)
}{
	{"completed", func(s *suite, job driver.Job) { require.NoError(s, s.finish(completed(job.Lease()))) }},
	{"failed", func(s *suite, job driver.Job) { require.NoError(s, s.finish(failed(job.Lease()))) }},
	{"canceled", func(s *suite, job driver.Job) { require.NoError(s, s.cancel(job.ID)) }},
}

// fill sets each empty field to a stored value, including options that are added later.
func fill(of reflect.Value, at time.Time) {
	for i := range of.NumField() {
		name := of.Type().Field(i).Name
		switch field := of.Field(i); f := field.Addr().Interface().(type) {
		case *string:
			*f = "ü'" + name
		case *int:
			*f = -7 - i
		case *time.Time:
			*f = at.Add(time.Duration(i) * time.Second)
		case *[]string:
			*f = []string{"ü'" + name, "b"}
		}
	}
}
