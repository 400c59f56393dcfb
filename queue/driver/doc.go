// Package driver defines what a database engine implements so that package queue can keep its jobs there, as
// database/sql/driver does for database/sql. Programs that use a queue need queue/sqlite or queue/postgres, and not this
// package.
//
// # The parts
//
// A [Driver] stores and moves rows, and has no policy of its own: retries, budgets, defaults, codecs and cron expressions
// are the queue's. Its methods are grouped by role ([Enqueuer], [Claimer], [Finisher], …), and take and return the types
// of this package, which are plain data. [Clock], [Private], [LockTimeouter], [WriteChecker], [Fencer], [GroupInserter],
// [HealthChecker], [TableChecker], [Promoter], [TableLister], [Auditor], [MoveSource] and [MoveTarget] are optional. The queue asks for them
// once, with [As].
//
// A program does not see a Driver: what its package opens is a type with the methods of [DB], Close, and
//
//	Driver() driver.Driver
//
// which package queue calls. For a driver that wraps another one, there is queue.NewDB, and [Unwrapper].
//
// # Transactions
//
// [DB.Write] begins a transaction, gives the function a [*WriteTx] and commits. A method that takes a [*WriteTx] writes in
// that transaction, reads its clock ([WriteTx.Now]), and leaves committing to whoever began it. The statements of a WriteTx
// may also be those of a transaction that a program has begun with a library of its own ([Transactor].Join); a driver must not
// rely on a report of its commit.
//
// # What a driver must not do
//
//   - read a clock where the request or the transaction names an instant
//   - retry what may have been written
//   - call back into the queue
//   - write a state, a hold or the kind of an attempt's end that this package does not name, or ask the database for one:
//     [StandingFor], [CheckStates], [CheckFinished] and [CheckOutcomes] refuse them
//   - keep a transaction of its own open when a method returns
//
// # Fencing
//
// A [Lease] is a job and the number of the attempt that holds it. A write that names a lease happens only if the job is
// running and in that attempt, compared inside the transaction that writes; otherwise the answer is [ErrNotRunning],
// [ErrLeaseLost] or [ErrJobNotFound].
//
// # The specification
//
// The conformance suite, queue/driver/drivertest, is the specification: each of its cases says what is expected and why.
// A driver that passes it works with every part of package queue.
package driver
