// Package queuetest helps to test programs that use a queue.
//
// # Running jobs
//
// [New] gives a queue in memory. [Work] runs its jobs until none is left; [WorkOne] runs one attempt of one and returns
// the job as it then stands:
//
//	q := queuetest.New(t)
//	_, err := q.Enqueue(t.Context(), Greet.New(Greeting{Name: "Ada"}, nil))
//	job := queuetest.WorkOne(t, q, func(d *queue.Dispatcher) { queue.Handle(d, Greet, greeter.Handle) })
//	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
//
// # Moving time
//
// The queue takes its time from package time. Inside a testing/synctest bubble that moves as soon as everything waits: a
// job of next week runs at once, at its time by every clock there is, and so does a retry.
//
//	synctest.Test(t, func(t *testing.T) {
//		q := queuetest.New(t)
//		_, err := q.EnqueueScheduled(t.Context(), Remind.New(42, nil), time.Now().Add(7*24*time.Hour))
//		queuetest.Work(t, q, register)                      // a week passes
//		time.Sleep(24 * time.Hour)                          // and a day
//	})
//
// Time stands still there while anything waits for a network, also one within the process. For such tests, [PromoteScheduled] makes
// all jobs due that wait for their time or for their next attempt, and no clock moves.
//
// # Crashing everywhere
//
// A process can die between any two things that a handler does, and a handler is right when that makes no difference.
// [CrashEverywhere] runs a scenario once undisturbed, and then once for each crash point: before and after each commit,
// and before and after each call to the outside world that a fake has marked with [Outside]. There the process dies,
// another takes over, and the end must be the same. Then the dead one comes back, and must change nothing.
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
// A handler that sends a letter and takes no care fails like this:
//
//	crash point 2 of 4: job 1 (invoice.pay), attempt 1, after the outside call send, before its answer is seen
//	The process dies there, and the one that takes over comes to another end:
//	  outside: too much: receipt for invoice 17
//
// "Too much" and "missing" compare with the undisturbed run. What is usually wrong, and what mends it:
//
//   - Too much of what was written, after a commit that writes: the write belongs into the transaction of
//     [queue.Attempt.Complete], or is a [queue.StepTx].
//   - Jobs too much: enqueue them with [queue.Queue.EnqueueTx] in that transaction, or with a key.
//   - Too much outside, after a call: give the call a key by which the other side knows it again, or begin it with
//     [queue.Attempt.StartStep] and let an attempt that finds it begun ask what became of it.
//   - Missing outside: the job is completed, or the step stored, before the call is made.
//   - A process that comes back changes something: that write names no lease. Make it with [queue.Attempt.Write].
//
// It tries what a crash does, one at a time. It does not try failing calls, two crashes on end, or jobs that run side by
// side, and it cannot know a call that is not marked; a commit that follows one, such as that of the job's completion, shows
// its repetition all the same. A zombie's outside calls are refused, as under the canceled context that it would find when
// it wakes. One that wakes between looking at its context and making the call does make it: only the other side can
// refuse that.
//
// The suite for drivers is in queue/driver/drivertest.
package queuetest
