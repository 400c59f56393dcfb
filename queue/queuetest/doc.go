// Package queuetest helps to test programs that use a queue.
//
// # Running jobs
//
// [New] returns a queue in memory. [Work] runs its jobs until none is left. [WorkOne] runs one attempt of one job and
// returns the job after it:
//
//	q := queuetest.New(t)
//	_, err := q.Enqueue(t.Context(), Greet.New(Greeting{Name: "Ada"}, nil))
//	job := queuetest.WorkOne(t, q, func(d *queue.Dispatcher) { queue.Handle(d, Greet, greeter.Handle) })
//	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
//
// [RequireEnqueued] and [RequireNotEnqueued] look for jobs that the code under test should have enqueued, or not.
//
// # Moving time
//
// The queue takes its time from package time. Inside a testing/synctest bubble, time advances as soon as all goroutines
// wait: a job that is due next week runs at once, at its own time on every clock, and so does a retry.
//
//	synctest.Test(t, func(t *testing.T) {
//		q := queuetest.New(t)
//		_, err := q.EnqueueScheduled(t.Context(), Remind.New(42, nil), time.Now().Add(7*24*time.Hour))
//		queuetest.Work(t, q, register)                      // a week passes
//		time.Sleep(24 * time.Hour)                          // and a day
//	})
//
// In a bubble, time does not advance while a goroutine waits for a network, even one within the process. For such
// tests, [PromoteScheduled] makes all jobs due that wait for their time or for their next attempt. It moves no clock.
//
// # Crashing everywhere
//
// A process can die between any two operations of a handler, and a correct handler reaches the same end.
// [CrashEverywhere] runs a scenario once undisturbed, and then once for each crash point: before and after each commit,
// and before and after each call to the outside world that a fake has marked with [Outside]. The process dies there,
// another takes over, and the end must be the same. Then the dead process comes back, and must change nothing.
//
//	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
//		office := &office{}
//		_, err := q.Enqueue(t.Context(), Pay.New(Invoice{ID: 17}, nil))
//		require.NoError(t, err)
//		return queuetest.Scenario{
//			Register: func(d *queue.Dispatcher) { queue.Handle(d, Pay, payer{office}.Handle) },
//			Outside:  office.letters, // what was sent
//		}
//	})
//
// A handler that sends a letter without precautions fails like this:
//
//	crash point 2 of 4: job 1 (invoice.pay), attempt 1, after the outside call send, before its answer is seen
//	The process dies there, and the one that takes over comes to another end:
//	  outside: too much: receipt for invoice 17
//
// "Too much" and "missing" compare with the undisturbed run. The usual faults and their fixes:
//
//   - Too many rows after a commit that writes: move the write into the transaction of
//     [queue.Attempt.Complete], or make it a [queue.StepTx].
//   - Too many jobs: enqueue them with [queue.Queue.EnqueueTx] in that transaction, or with a key.
//   - Too many effects outside, after a call: give the call a key by which the other side recognizes it, or begin it
//     with [queue.Attempt.StartStep] and let an attempt that finds it begun query its result.
//   - Missing outside: the job is completed, or the step stored, before the call is made.
//   - A process that comes back changes something: that write names no lease. Make it with [queue.Attempt.Write].
//
// CrashEverywhere tries one crash at a time. It does not try failing calls, two crashes in a row, or concurrent jobs.
// It cannot know a call that is not marked; but the crash point before a following commit, such as that of the job's
// completion, reveals its repetition. The outside calls of a process that comes back are refused, as under the canceled
// context that it would find. In reality, a process that wakes between checking its context and making the call does
// make the call: only the other side can refuse it.
//
// The suite for drivers is in queue/driver/drivertest.
package queuetest
