package drivertest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

func (s *suite) startStep(lease driver.Lease, name string) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) error { return s.d.StartStep(ctx, tx, lease, name) })
}

func (s *suite) finishStep(lease driver.Lease, name, result string) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) error {
		return s.d.FinishStep(ctx, tx, lease, driver.StepRecord{Name: name, StartedAt: tx.Now(),
			Result: []byte(result)})
	})
}

func (s *suite) saveCursor(lease driver.Lease, name, value string) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) error {
		return s.d.SaveCursor(ctx, tx, lease, name, []byte(value))
	})
}

func (s *suite) steps(jobID string) []driver.StepRecord {
	s.Helper()
	steps, err := s.d.Steps(s.Context(), jobID)
	require.NoError(s, err)
	return steps
}

var stepCases = []conformanceCase{
	{
		name:        "Step/keeps starts and results",
		explanation: "a started step has no end; a finished one has its result, byte for byte",
		run: func(s *suite) {
			job := s.started()
			s.startStep(job.Lease(), "a")
			s.finishStep(job.Lease(), "b", `{"b": "ü\u0000"}`)
			steps := s.steps(job.ID)
			require.Len(s, steps, 2)
			require.Equal(s, []string{"a", "b"}, []string{steps[0].Name, steps[1].Name})
			require.Equal(s, job.ID, steps[0].JobID)
			require.NotZero(s, steps[0].StartedAt)
			require.Zero(s, steps[0].FinishedAt)
			require.Nil(s, steps[0].Result)
			require.NotZero(s, steps[1].FinishedAt)
			require.Equal(s, `{"b": "ü\u0000"}`, string(steps[1].Result))

			s.finishStep(job.Lease(), "a", `1`)
			require.Equal(s, "1", string(s.steps(job.ID)[0].Result))
		},
	},
	{
		name:        "Step/outlives its attempt and names the one that ran it last",
		explanation: "a later attempt finds the steps of the earlier ones, also after the job was retried",
		run: func(s *suite) {
			job := s.started()
			s.startStep(job.Lease(), "begun")
			s.finishStep(job.Lease(), "done", `"kept"`)
			require.NoError(s, s.finish(failed(job.Lease())))
			require.NoError(s, s.retry(job.ID))
			job = s.claim(1)[0]
			s.startStep(job.Lease(), "begun")

			steps := s.steps(job.ID)
			require.Len(s, steps, 2)
			for _, step := range steps {
				require.Equal(s, map[string]int{"begun": 2, "done": 1}[step.Name], step.Attempt)
			}
		},
	},
	{
		name:        "Step/start does not take a result away",
		explanation: "a finished step is never run again, so starting it again must leave its result",
		run: func(s *suite) {
			job := s.started()
			s.finishStep(job.Lease(), "sent", `"id"`)
			s.requeue(job)
			s.startStep(s.claim(1)[0].Lease(), "sent")
			steps := s.steps(job.ID)
			require.Equal(s, `"id"`, string(steps[0].Result))
			require.NotZero(s, steps[0].FinishedAt)
			require.Equal(s, 1, steps[0].Attempt)
		},
	},
	{
		name:        "Step/keeps a cursor until it is finished",
		explanation: "progress is saved over and over, outlives its attempt, and goes with the result; a finished step has no more of it",
		run: func(s *suite) {
			job := s.started()
			s.startStep(job.Lease(), "begun")
			s.saveCursor(job.Lease(), "begun", `1`)
			s.saveCursor(job.Lease(), "alone", `{"page": "ü\u0000"}`)
			s.requeue(job)
			job = s.claim(1)[0]
			s.saveCursor(job.Lease(), "begun", `2`)
			cursors := map[string]string{}
			for _, step := range s.steps(job.ID) {
				require.Zero(s, step.FinishedAt)
				require.NotZero(s, step.StartedAt)
				require.Nil(s, step.Result)
				require.Equal(s, map[string]int{"begun": 2, "alone": 1}[step.Name], step.Attempt)
				cursors[step.Name] = string(step.Cursor)
			}
			require.Equal(s, map[string]string{"begun": `2`, "alone": `{"page": "ü\u0000"}`}, cursors)

			s.finishStep(job.Lease(), "begun", `"done"`)
			err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
				return s.d.SaveCursor(ctx, tx, job.Lease(), "begun", []byte(`3`))
			})
			require.ErrorIs(s, err, driver.ErrStepFinished)
			for _, step := range s.steps(job.ID) {
				if step.Name == "begun" {
					require.Equal(s, `"done"`, string(step.Result))
					require.Nil(s, step.Cursor)
				}
			}
		},
	},
	{
		name:        "ReadSteps/shows what the transaction has written",
		explanation: "a handler that has saved its cursor goes on from there, before the commit as after it",
		run: func(s *suite) {
			job := s.started()
			s.saveCursor(job.Lease(), "list", `1`)
			err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
				require.NoError(s, s.d.SaveCursor(ctx, tx, job.Lease(), "list", []byte(`2`)))
				steps, err := s.d.ReadSteps(ctx, tx, job.ID)
				require.NoError(s, err)
				require.Len(s, steps, 1)
				require.Equal(s, `2`, string(steps[0].Cursor))
				return errUser
			})
			require.ErrorIs(s, err, errUser)
			require.Equal(s, `1`, string(s.steps(job.ID)[0].Cursor))
		},
	},
}
