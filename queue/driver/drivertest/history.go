package drivertest

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

var historyCases = []conformanceCase{
	{
		name: "Attempts/lists every attempt",
		explanation: "the attempts that ended badly, the one that was canceled, the one that runs and the one that succeeded are " +
			"one history, in order",
		run: func(s *suite) {
			job := s.started()
			require.Equal(s, []string{driver.KindRunning}, s.history(job.ID))
			s.requeue(job)
			require.Equal(s, []string{driver.KindFailed}, s.history(job.ID), "nothing runs")
			s.claim(1)
			require.NoError(s, s.cancel(job.ID))
			require.Equal(s, []string{driver.KindFailed, driver.KindCanceled}, s.history(job.ID))
			require.NoError(s, s.retry(job.ID))
			require.Equal(s, []string{driver.KindFailed, driver.KindCanceled}, s.history(job.ID))
			job = s.claim(1)[0]
			require.Equal(s, []string{driver.KindFailed, driver.KindCanceled, driver.KindRunning}, s.history(job.ID))
			require.NoError(s, s.finish(completed(job.Lease())))
			require.Equal(s, []string{driver.KindFailed, driver.KindCanceled, driver.KindCompleted}, s.history(job.ID))
		},
	},
	{
		name:        "Attempts/has none of a job that was canceled while it waited",
		explanation: "an attempt is a claim; a job that was not running had none to cancel",
		run: func(s *suite) {
			never, between := newJob(), s.started()
			s.insert(never)
			s.requeue(between)
			require.NoError(s, s.cancel(never.ID))
			require.NoError(s, s.cancel(between.ID))
			require.Empty(s, s.history(never.ID))
			require.Equal(s, []string{driver.KindFailed}, s.history(between.ID))
		},
	},
	{
		name:        "Attempts/has one record when the end and a cancel meet",
		explanation: "whichever comes first says how the attempt ended; the other finds it ended, and nothing fails",
		run: func(s *suite) {
			for range 30 {
				job := s.started()
				var wg sync.WaitGroup
				wg.Go(func() {
					err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
						_, err := s.d.Finish(ctx, tx,
							[]driver.Outcome{{Lease: job.Lease(), State: driver.StateQueued, Kind: driver.KindFailed,
								NotBefore: s.now().Add(time.Hour), Error: "again", At: s.now()}})
						return err
					})
					if err != nil {
						s.Errorf("Finish: %v", err)
					}
				})
				wg.Go(func() {
					if err := s.cancel(job.ID); err != nil {
						s.Errorf("Cancel: %v", err)
					}
				})
				wg.Wait()
				require.Equal(s, driver.StateCanceled, s.state(job.ID))
				require.Len(s, s.history(job.ID), 1)
			}
		},
	},
}

// history returns the kinds of a job's attempts.
func (s *suite) history(jobID string) []string {
	s.Helper()
	attempts, err := s.d.Attempts(s.Context(), jobID)
	require.NoError(s, err)
	var kinds []string
	for i, a := range attempts {
		require.Equal(s, i+1, a.Attempt)
		require.Equal(s, jobID, a.JobID)
		require.Equal(s, "w", a.WorkerID)
		require.NotZero(s, a.StartedAt)
		require.Equal(s, a.Kind == driver.KindRunning, a.FinishedAt.IsZero())
		require.Equal(s, a.Kind == driver.KindRunning || a.Kind == driver.KindCompleted, a.Error == "")
		kinds = append(kinds, a.Kind)
	}
	return kinds
}

var logCases = []conformanceCase{
	{
		name:        "Logs/keeps lines with their job",
		explanation: "lines come back as they were given, by attempt and line, with the transaction that stored them or not at all",
		run: func(s *suite) {
			job, other := s.started(), s.started()
			at := s.now().UTC().Truncate(time.Microsecond)
			lines := []driver.LogLine{
				{JobID: job.ID, Attempt: 2, Line: 1, At: at, Level: slog.LevelDebug, Message: "second attempt"},
				{JobID: job.ID, Attempt: 1, Line: 38, At: at, Level: slog.LevelWarn + 1, Message: `ü "quoted"`,
					Attrs: []byte(`{"a": "\u0000", "a": 1}`)},
				{JobID: job.ID, Attempt: 1, Line: 37, At: at, Level: slog.LevelInfo},
				{JobID: other.ID, Attempt: 1, Line: 1, At: at, Level: slog.LevelError, Message: "of another"},
			}
			err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
				require.NoError(s, s.d.AddLogs(ctx, tx, lines))
				return errUser
			})
			require.ErrorIs(s, err, errUser)
			require.Empty(s, s.logs(job.ID))

			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return s.d.AddLogs(ctx, tx, lines) })
			require.Equal(s, []driver.LogLine{lines[2], lines[1], lines[0]}, s.logs(job.ID))
			require.Equal(s, lines[3:], s.logs(other.ID))
			require.Empty(s, s.logs("none"))
		},
	},
}

func (s *suite) logs(jobID string) []driver.LogLine {
	s.Helper()
	lines, err := s.d.Logs(s.Context(), jobID)
	require.NoError(s, err)
	return lines
}
