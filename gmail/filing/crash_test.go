package filing_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A job of the queue, as the handler of a kind sees it.
type attempt struct{ *queue.Attempt }

func (a attempt) JobID() string { return a.Job.ID }

func (a attempt) StepJSON(ctx context.Context, name string, fn func(ctx context.Context) (json.RawMessage,
	error)) (json.RawMessage, error) {
	return queue.Step(ctx, a.Attempt, name, fn)
}

// A turn is what one job does; the next turn is the job after it.
type turn struct {
	action string
	undo   bool
}

type work struct {
	Turn int `json:"turn"`
}

const jobFile queue.Type[work] = "file"

// Files of two messages are written and taken back, wherever the process dies. The last turn wants what the one before
// it took back: an attempt that is taken for dead may reserve a place again, which is then used.
func TestAFileIsWrittenOnceWhereverTheProcessDies(t *testing.T) {
	turns := []turn{{"1", false}, {"2", false}, {"3", false}, {"1", true}, {"3", true}, {"4", false}}
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		d := newDesk(t, q.DB(), nil)
		d.cabinet.Outside(queuetest.Outside)
		m, other := d.add(named("plan.pdf", "a"), named("plan.pdf", "b")), d.add(named("plan.pdf", "a"))
		of := map[string]*postroom.Message{"1": m, "2": m, "3": other, "4": other}
		_, err := q.Enqueue(t.Context(), jobFile.New(work{}, nil))
		require.NoError(t, err)
		handle := func(ctx context.Context, w *queue.Work[work]) error {
			now := turns[w.Payload.Turn]
			a, run := action(now.action, of[now.action], nil), attempt{w.Attempt}
			var outcome postroom.Outcome
			var err error
			if now.undo {
				outcome.Commit, err = d.kind().Undo(ctx, run, a)
			} else {
				outcome, err = d.kind().Handler(ctx, run, a)
			}
			if err != nil {
				return err
			}
			return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				if err := outcome.Commit(ctx, tx); err != nil || w.Payload.Turn+1 == len(turns) {
					return err
				}
				_, err := w.Queue().EnqueueTx(ctx, tx, jobFile.New(work{w.Payload.Turn + 1}, nil))
				return err
			})
		}
		return queuetest.Scenario{
			Register: func(disp *queue.Dispatcher) { queue.Handle(disp, jobFile, handle) },
			Outside: func() (lines []string) {
				for _, name := range d.list() {
					lines = append(lines, name+": "+d.read(name))
				}
				return lines
			},
		}
	})
}

// A process dies between the writing of a file and its record. A person edits the file before the next attempt.
func TestAnEditBetweenAttemptsIsKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		m := d.add(named("plan.pdf", "a"))
		_, err := d.handle(action("1", m, nil)) // and the process dies before its transaction
		require.NoError(t, err)
		require.Equal(t, []string{planPath}, d.list())
		d.write(planPath, "mine")
		d.file("1", m, nil)
		require.Len(t, d.list(), 2)
		require.Equal(t, "mine", d.read(planPath))
		require.NoError(t, d.undo("1", m))
		require.Equal(t, []string{planPath}, d.list())
	})
}
