// Package queuetest helps to test what uses a queue, and what implements one.
//
// [New] gives a queue in memory and [Work] runs its jobs until none is left:
//
//	q := queuetest.New(t)
//	_, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil))
//	queuetest.Work(t, q, func(d *queue.Dispatcher) { queue.Handle(d, Greet, greeter.Handle) })
//
// Inside a testing/synctest bubble the waits of schedules and retries, of days if need be, take next to no time.
//
// [TestDriver] is the suite that every [queue.Driver] passes.
package queuetest
