// Package chunk runs jobs of one type together: up to so many, or those that come within a time, are one call of a
// function. It is for work that is cheaper in bulk, such as rows for an API that takes a thousand of them at once.
//
//	err := chunk.Handle(d, Index, chunk.Config{Size: 500, Wait: time.Second},
//		func(ctx context.Context, works []*queue.Work[Document]) error { … },
//		queue.WithPool("index"))
//
// Each job keeps an end, results, retries and a history of its own; see [Errors]. Jobs meet in the process that has
// claimed them, and each takes a slot of its dispatcher while it waits for others and runs: a chunk is at most as large
// as there are slots. So give the type a pool of [queue.DispatcherConfig].Pools with at least Size slots.
//
// Jobs of one [queue.Options].Sequence never meet, since each is claimed when the one before it has ended: where no
// others come, each runs alone, and after the whole Wait. A sequence of such jobs is slow: make Wait short.
//
// To write for all jobs of a chunk and complete them in one transaction, begin one with [queue.DB].Write, and call
// [queue.Attempt.CompleteTx] of each job in it.
package chunk
