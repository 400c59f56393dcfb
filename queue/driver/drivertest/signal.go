package drivertest

import (
	"context"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

func (s *suite) trySignal(id, name, payload string) (awaited bool, err error) {
	err = driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) (err error) {
		awaited, err = s.d.AddSignal(ctx, tx, driver.Signal{JobID: id, Name: name, AnsweredAt: tx.Now(),
			Payload: []byte(payload)})
		return err
	})
	return awaited, err
}

func (s *suite) signal(id, name, payload string) (awaited bool) {
	s.Helper()
	awaited, err := s.trySignal(id, name, payload)
	require.NoError(s, err)
	return awaited
}

// await is what a handler's wait does: without an answer the attempt ends.
func (s *suite) await(job driver.Job, name string, number int, until time.Time) (got driver.Signal) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
		want := driver.Signal{JobID: job.ID, Name: name, Number: number, AwaitedAt: tx.Now(), Until: until}
		if got, err = s.d.AwaitSignal(ctx, tx, job.Lease(), want); err != nil || !got.AnsweredAt.IsZero() {
			return err
		}
		due := until
		if due.IsZero() {
			due = driver.Never
		}
		answers, err := s.d.Finish(ctx, tx, []driver.Outcome{{Lease: job.Lease(), State: driver.StateQueued,
			Kind: driver.KindWaiting, NotBefore: due, Error: "waits", At: tx.Now()}})
		if err == nil {
			err = answers[0]
		}
		return err
	})
	return got
}

func (s *suite) signals(id string) (lines []string) {
	s.Helper()
	stored, err := s.d.Signals(s.Context(), id)
	require.NoError(s, err)
	for _, sig := range stored {
		line := sig.Name + strconv.Itoa(sig.Number) + " " + string(sig.Payload)
		if sig.AnsweredAt.IsZero() {
			line += "awaited by " + strconv.Itoa(sig.Attempt)
		}
		lines = append(lines, line)
	}
	return lines
}

var signalCases = []conformanceCase{
	{
		name: "Signal/is kept until it is awaited, in its order",
		explanation: "a signal may come before the handler asks for it, and two are two answers, byte for byte; " +
			"each number keeps its answer for the attempts to come",
		run: func(s *suite) {
			job := s.started()
			require.False(s, s.signal(job.ID, "a", `{"n": "ü\u0000"}`))
			require.False(s, s.signal(job.ID, "a", `2`))
			require.False(s, s.signal(job.ID, "b", `null`))
			first := s.await(job, "a", 1, time.Time{})
			require.Equal(s, `{"n": "ü\u0000"}`, string(first.Payload))
			require.Equal(s, 1, first.Attempt)
			require.NotZero(s, first.AwaitedAt)
			s.requeue(job)
			job = s.claim(1)[0]
			require.Equal(s, first, s.await(job, "a", 1, time.Time{}))
			require.Equal(s, `2`, string(s.await(job, "a", 2, time.Time{}).Payload))
			require.Equal(s, []string{`a1 {"n": "ü\u0000"}`, "a2 2", "b1 null"}, s.signals(job.ID))
		},
	},
	{
		name: "Signal/answers the wait that it finds",
		explanation: "a job that waits for just this signal is to be hastened; one that waits for another signal, or for " +
			"its retry, is not",
		run: func(s *suite) {
			job := s.started()
			require.Zero(s, s.await(job, "a", 1, time.Time{}).AnsweredAt)
			stored := s.job(job.ID)
			require.Equal(s, driver.StateQueued, stored.State)
			require.True(s, stored.NotBefore.Equal(driver.Never))
			require.Equal(s, []int{0, 0, 0}, []int{stored.Failures, stored.Interruptions, stored.Crashes})
			require.Empty(s, stored.LastError)
			require.Empty(s, s.claim(1))
			records, err := s.d.Attempts(s.Context(), job.ID)
			require.NoError(s, err)
			require.Equal(s, []string{driver.KindWaiting, "waits"}, []string{records[0].Kind, records[0].Error})

			require.False(s, s.signal(job.ID, "b", `1`))
			require.True(s, s.signal(job.ID, "a", `2`))
			require.NoError(s, s.hasten(job.ID))
			require.False(s, s.signal(job.ID, "a", `3`), "it is due already")
			job = s.claim(1)[0]
			require.Equal(s, `2`, string(s.await(job, "a", 1, time.Time{}).Payload))
			require.Equal(s, `3`, string(s.await(job, "a", 2, time.Time{}).Payload))

			require.Zero(s, s.await(job, "a", 3, time.Time{}).AnsweredAt)
			require.NoError(s, s.hasten(job.ID)) // by a person
			s.requeue(s.claim(1)[0])
			require.False(s, s.signal(job.ID, "a", `4`), "the latest attempt has failed, and does not wait")
			require.Equal(s, []string{"a1 2", "a2 3", "a3 4", "b1 1"}, s.signals(job.ID))
		},
	},
	{
		name:        "Signal/comes too late where the time is over",
		explanation: "a wait that has ended without a signal stays so: the next signal is for the next wait",
		run: func(s *suite) {
			job := s.started()
			until := s.now().Add(time.Hour).Truncate(time.Microsecond)
			require.True(s, until.Equal(s.await(job, "a", 1, until).Until))
			require.True(s, s.job(job.ID).NotBefore.Equal(until))
			job = s.claimAt(until.Add(time.Second), "w", 1).Jobs[0]
			var got driver.Signal
			s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
				got, err = s.d.AwaitSignal(ctx, tx, job.Lease(), driver.Signal{JobID: job.ID, Name: "a", Number: 1,
					AwaitedAt: until, Until: until.Add(time.Hour)})
				return err
			})
			require.NotZero(s, got.AnsweredAt)
			require.Nil(s, got.Payload)
			require.True(s, until.Equal(got.Until), "the first bound stays")
			require.False(s, s.signal(job.ID, "a", `1`))
			require.Equal(s, `1`, string(s.await(job, "a", 2, time.Time{}).Payload))
		},
	},
	{
		name: "Signal/is refused where nobody would take it",
		explanation: "a sender must learn that the job has ended or is not here; a signal to a job that is being moved " +
			"would be lost",
		run: func(s *suite) {
			_, err := s.trySignal("none", "a", "1")
			require.ErrorIs(s, err, driver.ErrJobNotFound)
			job := s.started()
			require.NoError(s, s.finish(completed(job.Lease())))
			_, err = s.trySignal(job.ID, "a", "1")
			require.ErrorIs(s, err, driver.ErrFinished)

			stale := s.started()
			s.requeue(stale)
			s.claim(1)
			err = driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := s.d.AwaitSignal(ctx, tx, stale.Lease(), driver.Signal{JobID: stale.ID, Name: "a", Number: 1,
					AwaitedAt: tx.Now()})
				return err
			})
			require.ErrorIs(s, err, driver.ErrLeaseLost)
			_, err = s.trySignal(s.held().ID, "a", "1")
			require.ErrorIs(s, err, driver.ErrJobMoves)
		},
	},
}
