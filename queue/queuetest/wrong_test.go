package queuetest_test

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func writeApart(ctx context.Context, w *queue.Work[int], what string) error {
	return w.Queue().DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error { return pay(ctx, tx, what) })
}

const job1 = "job 1 (order), attempt 1, "

func TestCrashEverywhereNamesThePointsOfEachFault(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle orderHandler
		want   []string
	}{
		{
			name:   "sends without a step",
			handle: func(ctx context.Context, _ *queue.Work[int], o *office) error { return o.send(ctx, "letter") },
			want: []string{
				"dead: " + job1 + "after the outside call send, before its answer is seen: outside: too much: letter",
				"dead: " + job1 + "before the commit that completes the job: outside: too much: letter",
			},
		},
		{
			name: "sends in a step and does not look whether it was sent",
			handle: func(ctx context.Context, w *queue.Work[int], o *office) error {
				_, err := queue.Step(ctx, w, "send", func(ctx context.Context) (bool, error) {
					return true,
						o.send(ctx, "letter")
				})
				return err
			},
			want: []string{
				"dead: " + job1 + "after the outside call send, before its answer is seen: outside: too much: letter",
				"dead: " + job1 + "before the commit that stores step send: outside: too much: letter",
			},
		},
		{
			name: "takes what was begun for done",
			handle: func(ctx context.Context, w *queue.Work[int], o *office) error {
				begun, err := w.StepStarted(ctx, "send")
				if err != nil || begun {
					return err
				}
				if err := w.StartStep(ctx, "send"); err != nil {
					return err
				}
				return o.send(ctx, "letter")
			},
			want: []string{
				"dead: " + job1 + "after the commit that starts step send: outside: missing: letter",
				"dead: " + job1 + "before the outside call send: outside: missing: letter",
			},
		},
		{
			name: "sends when the job is completed already",
			handle: func(ctx context.Context, w *queue.Work[int], o *office) error {
				if err := w.Complete(ctx, nil); err != nil {
					return err
				}
				return o.send(ctx, "letter")
			},
			want: []string{
				"dead: " + job1 + "after the commit that completes the job: outside: missing: letter",
				"dead: " + job1 + "before the outside call send: outside: missing: letter",
			},
		},
		{
			name: "writes in a transaction of its own",
			handle: func(ctx context.Context, w *queue.Work[int], _ *office) error {
				if err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
					return pay(ctx, tx,
						"all")
				}); err != nil {
					return err
				}
				return w.Complete(ctx, nil)
			},
			want: []string{
				"dead: " + job1 + `after the commit that writes: table payments: too much: what="all" paid_at="(time)"`,
				"dead: " + job1 + `before the commit that completes the job: table payments: too much: what="all" paid_at="(time)"`,
			},
		},
		{
			name: "writes without naming its lease",
			handle: func(ctx context.Context, w *queue.Work[int], _ *office) error {
				if err := writeApart(ctx, w, "all"); err != nil {
					return err
				}
				return w.Complete(ctx, nil)
			},
			want: []string{
				"zombie: " + job1 + `before the commit that writes and names no lease: table payments: too much: what="all" paid_at="(time)"`,
				"dead: " + job1 + `after the commit that writes and names no lease: table payments: too much: what="all" paid_at="(time)"`,
				"dead: " + job1 + `before the commit that completes the job: table payments: too much: what="all" paid_at="(time)"`,
			},
		},
		{
			name: "overwrites without naming its lease",
			handle: func(ctx context.Context, w *queue.Work[int], _ *office) error {
				return w.Queue().DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
					if _, err := tx.ExecContext(ctx, "DELETE FROM payments"); err != nil {
						return err
					}
					return pay(ctx, tx, "all")
				})
			},
			want: []string{
				"zombie: " + job1 + `before the commit that writes and names no lease: ` +
					`table payments: missing: what="all" paid_at="(time)"; table payments: too much: what="all" paid_at="(time)"`,
			},
		},
		{
			name: "enqueues the next job apart and without a key",
			handle: func(ctx context.Context, w *queue.Work[int], _ *office) error {
				if _, err := w.Queue().Enqueue(ctx, notify.New(1, nil)); err != nil {
					return err
				}
				return w.Complete(ctx, nil)
			},
			want: []string{
				// The notice is sent once: the office knows it.
				"zombie: " + job1 + "before the commit that enqueues notify and names no lease: jobs: too much: notify 1 queued attempt=0 updated_at=(time)",
				"dead: " + job1 + "after the commit that enqueues notify and names no lease: jobs: too much: notify 1 completed",
				"dead: " + job1 + "before the commit that completes the job: jobs: too much: notify 1 completed",
			},
		},
		{
			name: "believes that the first attempt is the only one",
			handle: func(ctx context.Context, w *queue.Work[int], _ *office) error {
				return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
					if w.Job.Attempt > 1 {
						return nil
					}
					return pay(ctx, tx, "all")
				})
			},
			want: []string{
				"dead: " + job1 + `before the commit that completes the job: table payments: missing: what="all" paid_at="(time)"`,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, summaries(failures(t, orders(c.handle))))
		})
	}
}

func TestAFaultOfALaterJobIsNamedToo(t *testing.T) {
	got := failures(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		s := orders(right)(t, q)
		o := &office{}
		s.Outside = o.log
		s.Register = func(d *queue.Dispatcher) {
			queue.Handle(d, order, completeAndNotify)
			queue.Handle(d, notify, func(ctx context.Context, _ *queue.Work[int]) error {
				return o.send(ctx,
					"notice")
			})
		}
		return s
	})
	require.Len(t, got, 2)
	require.Contains(t, got[0], "crash point 4 of 6: job 2 (notify), attempt 1, after the outside call send")
	require.Contains(t, got[1], "crash point 5 of 6: job 2 (notify), attempt 1, before the commit that completes the job")
}

func TestCrashEverywhereRefusesWhatItCannotTry(t *testing.T) {
	runs := 0
	for _, c := range []struct {
		name   string
		handle orderHandler
		change func(s *queuetest.Scenario)
		want   string
	}{
		{
			name: "a call outside within a transaction",
			handle: func(ctx context.Context, w *queue.Work[int], o *office) error {
				return w.Complete(ctx, func(ctx context.Context, _ queue.Tx) error { return o.send(ctx, "letter") })
			},
			want: "the outside call send is made inside a write transaction",
		},
		{
			name: "a write under another context",
			handle: func(_ context.Context, w *queue.Work[int], _ *office) error {
				return writeApart(context.Background(), w, "all")
			},
			want: "a write is made under a context that does not come from the handler's",
		},
		{
			name: "an end that is another each time",
			handle: func(_ context.Context, w *queue.Work[int], _ *office) error {
				runs++
				w.SetResult(runs)
				return nil
			},
			want: "two undisturbed runs end differently; name in Scenario.Ignore what may vary:\n  jobs: missing: order 17 completed result=1\n" +
				"  jobs: too much: order 17 completed result=2\n",
		},
		{
			name: "a way that is another each time",
			handle: func(ctx context.Context, w *queue.Work[int], _ *office) error {
				if runs++; runs > 4 {
					return nil
				}
				return w.Write(ctx, func(context.Context, queue.Tx) error { return nil })
			},
			want: "a second run does not pass there",
		},
		{
			name:   "an ignored column that is not there",
			handle: right,
			change: func(s *queuetest.Scenario) { s.Ignore = []string{"payments.piad_at"} },
			want:   `Scenario.Ignore names "payments.piad_at"; the scenario makes no such table or column`,
		},
		{
			name:   "an ignored table of the queue",
			handle: right,
			change: func(s *queuetest.Scenario) { s.Ignore = []string{"jobs"} },
			want:   `Scenario.Ignore names "jobs"; the scenario makes no such table or column`,
		},
		{
			name:   "no handler",
			handle: right,
			change: func(s *queuetest.Scenario) { s.Register = nil },
			want:   "Scenario.Register is nil",
		},
		{
			name:   "no job",
			handle: right,
			change: func(s *queuetest.Scenario) {
				s.Register = func(d *queue.Dispatcher) {
					queue.Handle(d, count, func(context.Context, *queue.Work[int]) error { return nil })
				}
			},
			want: "the scenario runs no job",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs = 0
			got := failures(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
				s := orders(c.handle)(t, q)
				if c.change != nil {
					c.change(&s)
				}
				return s
			})
			require.NotEmpty(t, got)
			require.Contains(t, got[0], c.want)
		})
	}
}

func TestIgnoredColumnsAndTablesAreNotCompared(t *testing.T) {
	twice := func(ctx context.Context, w *queue.Work[int], _ *office) error {
		return writeApart(ctx, w, fmt.Sprintf("attempt %d", w.Job.Attempt))
	}
	require.NotEmpty(t, failures(t, orders(twice)))
	ignoring := func(names ...string) []string {
		return failures(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
			s := orders(twice)(t, q)
			s.Ignore = names
			return s
		})
	}
	require.Empty(t, ignoring("payments"))
	require.NotEmpty(t, ignoring("payments.what", "payments.paid_at"), "rows are still counted")
}

func TestLongRowsAreShownWhereTheyDiffer(t *testing.T) {
	got := summaries(failures(t, orders(func(ctx context.Context, w *queue.Work[int], _ *office) error {
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			same := strings.Repeat("the same words ", 20)
			return pay(ctx, tx, fmt.Sprintf("%sin attempt %d or so %s", same, w.Job.Attempt, same))
		})
	})))
	require.Equal(t, []string{
		"dead: " + job1 + "before the commit that completes the job: table payments: missing: … 1 …; table payments: too much: … 2 …",
	}, got)
}

// A recorder takes note of failures instead of failing.
type recorder struct {
	testing.TB

	mu       sync.Mutex
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.FailNow()
}

func (r *recorder) FailNow() { runtime.Goexit() }

// observe returns how fn fails.
func observe(t *testing.T, fn func(t testing.TB)) []string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn(r)
	}()
	<-done
	return r.failures
}

func failures(t *testing.T, begin func(testing.TB, *queue.Queue) queuetest.Scenario) []string {
	t.Helper()
	return observe(t, func(t testing.TB) { queuetest.CrashEverywhere(t, begin) })
}

var (
	numbered = regexp.MustCompile(`^queuetest: crash point \d+ of \d+: `)
	instant  = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`)
)

// summaries puts each failure on one line: dead or zombie, where, and the difference.
func summaries(failures []string) []string {
	var all []string
	for _, f := range failures {
		lines := strings.Split(strings.TrimSpace(instant.ReplaceAllString(f, "(time)")), "\n")
		how := "dead"
		if strings.Contains(lines[1], "taken for dead") {
			how = "zombie"
		}
		for i := range lines[2:] {
			lines[2+i] = strings.TrimSpace(lines[2+i])
		}
		all = append(all, how+": "+numbered.ReplaceAllString(lines[0], "")+": "+strings.Join(lines[2:], "; "))
	}
	return all
}
