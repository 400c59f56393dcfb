// Package driver defines the interfaces that a database engine implements to store the jobs of package queue, as
// database/sql/driver does for database/sql. Programs that use a queue need queue/sqlite or queue/postgres, and not
// this package.
//
// # Interfaces
//
// A [Driver] stores and moves rows, and has no policy of its own: package queue decides about retries, budgets,
// defaults, codecs and cron expressions. Its methods are grouped by role ([Enqueuer], [Claimer], [Finisher], …), and
// take and return the types of this package, which are plain data. [Clock], [Private], [LockTimeouter], [WriteChecker],
// [Fencer], [GroupInserter], [HealthChecker], [TableChecker], [Promoter], [TableLister], [Auditor], [Remover],
// [MoveSource], [MoveTarget], [FlowStore], [FlowMover], [SequenceStore] and [Namer] are optional. The queue asks for
// them once, with [As].
//
// Programs do not use a Driver directly. The engine's package returns a type with the methods of [DB], Close, and
//
//	Driver() driver.Driver
//
// which package queue calls. For a driver that wraps another one, see queue.NewDB and [Unwrapper].
//
// # Transactions
//
// [DB.Write] begins a transaction, gives the function a [*WriteTx] and commits. A method that takes a [*WriteTx] writes
// in that transaction, reads its clock ([WriteTx.Now]), and leaves the commit to the caller that began it. A WriteTx
// may also be a transaction that a program has begun with a library of its own ([Transactor].Join). A driver must not
// rely on a report of its commit.
//
// # Prohibitions
//
// A driver must not:
//
//   - read a clock if the request or the transaction has an instant
//   - retry a write that may have taken effect
//   - call back into the queue
//   - write or query a state, a hold or the kind of an attempt's end that this package does not define: [StandingFor],
//     [CheckStates], [CheckFinished] and [CheckOutcomes] refuse them
//   - keep a transaction of its own open when a method returns
//
// # Fencing
//
// A [Lease] is a job and the number of the attempt that holds it. A write with a lease takes effect only if the job is
// running and in that attempt, which the writing transaction checks. Otherwise the error is [ErrNotRunning],
// [ErrLeaseLost] or [ErrJobNotFound].
//
// # The specification
//
// The conformance suite, queue/driver/drivertest, is the specification: each of its cases states the expectation and
// the reason. A driver that passes it works with every part of package queue.
package driver
