// Package queue is a durable job queue that lives in the database of the program that uses it.
//
// A job is a row. A handler's writes, the jobs that follow from them and the job's own completion are one transaction
// of that database: either all of them happen or none. The packages queue/sqlite and queue/postgres open a database;
// this package needs no driver and no server of its own.
//
//	const Greet queue.Type[Greeting] = "greet"
//
//	db, err := sqlite.Open(ctx, "app.db", nil)
//	err = queue.Migrate(ctx, db)
//	q, err := queue.New(db, nil)
//	d, err := queue.NewDispatcher(q, nil)
//	queue.Handle(d, Greet, func(ctx context.Context, w *queue.Work[Greeting]) error { … })
//	_, err = q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil))
//	err = d.Run(ctx)
//
// Related packages are queue/flow for graphs of jobs, batches and chains, queue/chunk for handlers of many jobs at
// once, queue/queueadmin for operators (statistics, health, changing many jobs, moving), queue/queueui for a dashboard,
// queue/queuetest for tests of handlers, and queue/driver for authors of other engines.
//
// # Glossary
//
//   - attempt: one run of one job. Attempts are counted from 1 at the claim.
//   - capacity: how many more jobs a limit lets run now.
//   - claim: to take due jobs out of the queue and make them running, in one transaction.
//   - cursor: the position of a step, stored for the attempt that continues it.
//   - dispatcher: the part of a process that claims jobs and runs their handlers. Its name in the database is a worker.
//   - due: said of a queued job whose NotBefore has come.
//   - enqueue: to store a new job.
//   - heartbeat: the write by which a worker shows that it is alive.
//   - idempotency key: a name that keeps the same job from being stored twice.
//   - lease: the right to write about one attempt of one job. It lasts while the worker's heartbeats come.
//   - limit key: a name that jobs share to be limited together.
//   - pool: slots for the jobs of some types. WithPool names that of a handler.
//   - prefetch: to claim more jobs than there are free slots.
//   - prune: to delete finished jobs that have been kept long enough.
//   - redrive: to retry many failed jobs.
//   - schedule: a cron expression and the job that it enqueues. Each time is a firing.
//   - signal: a message to one job, which its handler awaits.
//   - slot: the place of one running handler. A dispatcher has DispatcherConfig.Workers of them, and those of its
//     Pools.
//   - step: a named part of a job whose result is stored, so that a later attempt does not repeat it.
//
// # States
//
//	queued           → running    the job is claimed
//	running          → completed  its handler succeeded
//	running          → queued     its handler failed or was interrupted, or its process died, and it may try again
//	running          → queued     its handler waits for a signal, or sleeps
//	running          → failed     it may not try again, or the error is Fatal
//	queued, running  → canceled   Queue.Cancel
//	running          → canceled   its handler has found it pointless: Cancel
//	running          → canceled   it coalesces, was to run again, and another waits in its place
//	queued           → canceled   it is past its ExpiresAt, also while it waits for a signal
//	failed, canceled → queued     Queue.Retry
//
// A job that waits for its time, or for its next attempt, is queued with a NotBefore in the future. Claims take due
// jobs: highest priority first, then earliest due, then oldest.
//
// # Who may write what
//
// Each claim increments the job's Attempt. The job's id and the number of the attempt are its lease, and every write
// about a running job names it: completing, failing, giving back, starting and finishing a step, and each transaction
// that a handler opens with [Attempt.Write] or [Attempt.Complete]. The database compares it with the job inside the
// transaction that writes. It refuses the write with [ErrLeaseLost] when another attempt holds the job, with
// [ErrNotRunning] when no attempt does, and with [ErrJobNotFound] when the job does not exist. A worker that was
// presumed dead and comes back, however late, can therefore change no job that another has taken over.
//
// A handler's effects outside the database are not fenced, and can be repeated after a crash. Make them idempotent, or
// guard them with a step that checks first whether they took effect (see Steps).
//
// # Transactions
//
// Calls that change one job, a limit, a pause or a schedule have variants that take a transaction ([Queue.EnqueueTx],
// [Queue.CancelTx], …), so that a program's own rows and its jobs commit together. The transaction is a [Tx]: one that
// the queue begins, or one of the program's own library (*sql.Tx, *sqlx.Tx, pgx.Tx, GORM, sqlc).
//
// [DB].Write and [Attempt.Complete] run a function in a write transaction. Complete is the usual end of a handler: the
// job is completed in the transaction that holds the handler's writes and the next jobs. If it fails, the attempt
// fails.
//
// Such transactions may share a commit with those of other goroutines, and on SQLite hold the only right to write while
// they run. A function given to Write does database work only, and uses the calls that take the transaction.
//
// In a handler, [Attempt.CompleteTx] completes the job in a transaction that the handler commits by itself. A handler
// that returns nil without having committed has failed. [Queue.Subscribe] and telemetry report that job once the
// dispatcher has found it completed. They report nothing else that happens in a transaction of the program's own,
// because the queue does not learn of its commit.
//
// # Leases and heartbeats
//
// A dispatcher registers as a worker and increments its heartbeat with one write every third of a lease, however many
// jobs it runs. Every dispatcher also watches the heartbeats of the others. One that has not changed for a whole lease,
// by the watcher's own monotonic clock, belongs to a dead process: in one transaction the worker is removed, if its
// heartbeat is still the one that was seen, and its jobs are given back. No clocks of two machines are compared. A
// watcher that has itself stood still begins to measure anew. The jobs of a dead worker run again within two leases.
//
// The next heartbeat of a process that was declared dead is refused: the process cancels its handlers with the cause
// [ErrLeaseLost] and continues under a new name. A process that cannot reach the database for a lease does the same.
//
// # Budgets
//
// An attempt that does not complete its job, and does not end to wait for a signal, ends in one of three ways. Each has
// its own count and its own bound:
//
//   - failed: the handler returned an error or panicked. Options.MaxAttempts failures end the job.
//   - interrupted: Defer, a shutdown, or a lease that could not be kept. Budget.Interruptions bounds it generously,
//     against jobs that defer for ever.
//   - crashed: the process died. Budget.Crashes bounds it, against jobs that kill their workers.
//
// A death is charged to the jobs that are known to have begun: those that had run for a second, the only job of the
// process, and suspects. The others are given back and count as nothing. All jobs that a dead process held are suspects
// until an attempt ends otherwise. A process runs one suspect at a time beside other jobs, each for a turn of at most a
// minute. A suspect that has crashed more than once runs alone: the process lets its other jobs end first. So a job
// that kills its process soon dies alone and fails, and the innocent ones complete. Suspects wait between attempts,
// from the second crash on for about 1 s, 2 s, 4 s, … up to 5 minutes.
//
// [Queue.Retry] gives a failed or canceled job its whole budgets back.
//
// # What happens when
//
//   - A handler returns an error: the job waits as RetryPolicy says and runs again. RetryAfter chooses another wait,
//     Fatal ends the job as failed, and Cancel as canceled.
//   - A handler panics, or calls runtime.Goexit: that is a failure, kept with its stack. Other jobs are not affected.
//   - A payload, or the stored result or cursor of a step, does not decode into its type: a newer version of the
//     program may have written it. The job is given back as interrupted, with waits from 1 s to 5 minutes. It fails if
//     no handler could read it for 24 hours, and its error names the workers that have tried.
//   - A handler takes longer than WithTimeout allows: its context is canceled with the cause ErrTimeout, and the
//     error it then returns is a failure that says how long it ran.
//   - A job is canceled while it runs: its handler's context is canceled with the cause ErrCanceled, at once in the
//     same process, at the next heartbeat in another. The handler's result is ignored.
//   - A handler ignores that its context was canceled: after DispatcherConfig.Grace it is given up. The end of its
//     attempt is written with its stack, as a failure after a timeout, so that the job runs again or has failed. Its
//     lease is gone, and its further writes are refused. Another handler takes its slot, for at most as many handlers
//     as Workers; beyond that, slots stay taken until their handlers return. DispatcherConfig.OnStuck is called.
//   - The dispatcher is stopped: it claims no more, waits for its handlers, cancels them with the cause ErrShutdown,
//     waits again, and gives back the jobs that did not end, without spending an attempt. Run's error names handlers
//     that still did not return; their leases are gone, so they can write nothing.
//   - The process is killed: its jobs run again after a lease, or at once when the next dispatcher is
//     DispatcherConfig.Exclusive, one at a time (see Budgets). Committed writes stay; uncommitted writes
//     have not happened.
//   - The database is away: claims are tried again after the poll interval, at the latest after a second, and the
//     ends of jobs until they are written.
//
// # Keys
//
// A [Key] makes enqueueing idempotent. A [Forever] key is taken once: it outlives its job's row. A [WhileUnfinished]
// key keeps jobs from overlapping: it is free again when its job completes, fails for good or is canceled, and a job
// that is retried by hand must get it back. A [ForPeriod] key is taken at most once in a period, whatever the outcome
// of the job. With a [Coalesce] key one run serves all requests made meanwhile: one job runs and at most one waits.
// While a key is taken, enqueueing the same type returns the holder's id, and shows the first difference of the
// payloads, if any. Another type returns [ErrKeyConflict], also after the holder's row was pruned. [UniqueBy] names a
// key by members of the payload.
//
// # Limits
//
// [Queue.SetLimit] bounds how many jobs of a type, of a limit key (Options.LimitKey), or of each key with a prefix run
// at once, and how many start in a period. [Queue.Pause] lets none start. Both are rows, in force for all machines from
// the commit on. A claim counts running jobs and starts in the transaction that claims, so that no limit is exceeded. A
// job takes capacity from its claim to its end; the jobs of a dead worker until they are taken back.
//
// Rates follow the generic cell rate algorithm: one start every Per ÷ Rate, and Burst at once after a quiet time. A
// claim is a start, also of a job that then waits in a process. Rates are measured by the server's clock on PostgreSQL,
// and by that of the machine that claims on SQLite.
//
// Jobs whose key has no capacity are kept apart and slow no others. Setting a limit moves the queued jobs there in the
// same transaction.
//
// # Retention and bounds
//
// Finished jobs are deleted after [Config].Retention, a few at a time. [Queue.Redrive] retries all jobs that a [Filter]
// selects.
//
// Everything that is stored has a bound. Payloads, also of signals, results, and the results and cursors of steps have
// [Config].MaxPayload, 1 MiB, each; a larger value is refused with [ErrInvalidJob] or [ErrTooLarge] before anything is
// written. Errors and stacks are cut at 32 KB, logs as [Attempt.Logger] says.
//
// # Codecs
//
// [Config].Codec changes how the data of jobs is stored; package queueencrypt has a codec that encrypts it. It encodes
//
//   - payloads, of jobs, of schedules and of signals,
//   - results, and the results and cursors of steps,
//   - the errors that handlers end with, and their stacks,
//   - the messages and attributes of log lines.
//
// Everything else stays readable: types, states, priorities, times, keys, limit keys, users, tags, trace contexts, the
// names of steps, signals, schedules and workers, the levels and numbers of log lines, how each attempt ended, and what
// the queue itself records about it (that a worker died, that a job expired or was superseded). Without a
// [Fingerprinter], so does a SHA-256 of each payload with a key. A codec changes only the stored form: handlers,
// events, [Queue.Jobs] and similar calls, the dispatcher's logger and the spans have errors and lines in the clear.
//
// Stored values are decoded by the codec that encoded them, so that a codec can be added, and its keys rotated, while
// jobs wait.
//
// # Prefetch
//
// A dispatcher claims for its free slots and, beyond them, as many jobs as its handlers can run in
// [DispatcherConfig].Prefetch, 50 ms: short jobs do not cost a claim each, and long jobs are left to other processes.
// If claims take long, it claims further ahead, so that its handlers do not wait for them: four times the duration of a
// claim, and at most ten times Prefetch. It uses the recent run time of handlers, and claims at most twice as many as
// before, and no more payload than [DispatcherConfig].PrefetchBytes, 16 MiB. Jobs that wait in a process are running in
// the database, under its lease. Jobs that wait too long, or have not begun at a stop, are given back and count as
// nothing.
//
// # Schedules
//
// [Queue.SetSchedule] stores a cron expression with its time zone and a job. Any dispatcher enqueues the job when the
// time has come, whether or not it has a handler for it: it locks the schedule's row, advances it to the next instant
// and enqueues, in one transaction, so that one of all machines fires, and after a crash it fires later and not twice.
// The next instant is stored, and not computed from the start of a process: a weekly schedule fires although processes
// are restarted every day. Instants that were missed while no dispatcher ran are fired once, not at all, or each, as
// [Schedule].CatchUp says. A clock that is set back fires nothing again: the schedule waits until the clock has reached
// its next instant ([Queue.PauseSchedule] and [Queue.ResumeSchedule] make it begin from now). Only a schedule that has
// passed over instants more than three hours ahead, because a clock was that far ahead, continues from now, ten minutes
// later at most, without the instants for which it has fired. Clocks that disagree are logged and found by
// queueadmin.Doctor. A machine logs a schedule whose expression or zone it does not understand, and fires the others.
//
// A schedule that is set in a process with a dispatcher takes effect at once, one of another process after about a
// second, and behind a transaction-mode pooler within half a minute.
//
// # Steps
//
// [Step] stores the result of a named part of a job before it returns; a later attempt gets the result and does not run
// the part again. [StepTx] does so in the transaction of the part's own writes, which then happen exactly once. For a
// part that must not be repeated blindly, such as sending a letter, [Attempt.StartStep] records the intent first: an
// attempt that finds the intent without a result checks with the other side whether it took effect.
//
// A part that takes long stores its progress: [SaveCursor] stores a position in a list, [SaveCursorTx] does so in the
// transaction of the work before that position, and [Cursor] returns it to the attempt that continues.
//
// # Signals
//
// [Await] waits for a signal that [Queue.Signal] sends to the job, such as a person's approval, and [Sleep] waits for a
// time, for months if need be. Both end the attempt: the job is queued until the signal comes or the time is over, and
// takes neither a slot nor capacity of a limit. Then its handler runs again from the start, and Await returns at once
// what has come; what comes before it belongs into steps. A signal is kept until it is awaited, and an answer, also
// that none came in time, as long as the job. [Queue.Signals] shows them.
//
// While it waits, a job can be canceled, expires at its ExpiresAt, moves with queueadmin.Move, and, if its key is of
// scope coalesce, is superseded by a job that was enqueued under it meanwhile. [Queue.Retry] keeps its answers.
// [Queue.Hasten] has the handler look, which waits again until the same time.
//
// # Sequences
//
// The jobs of one [Options].Sequence, such as "customer:7", run one after the other on all machines, whatever their
// types and priorities. Their order is that of enqueueing: of the calls, and of the jobs within a call. Calls whose
// transactions overlap have no order between them. A job keeps its place through retries, deferrals, waits and crashes,
// and while it is not due.
//
// A job that has failed for good stops its sequence, which the log, Explain and Doctor of package queueadmin say: retry
// it, or delete it and the next one begins. Retention does not delete it. After a job with SequenceGoesOn, one that was
// canceled or deleted, and one that has expired, the next one begins at once: the handler of a running job that was
// canceled may then still be returning, and so may one that has called Complete. A job that is retried when others
// have gone past it joins the end.
//
// A sequence is nothing but its jobs, so that an idle one costs nothing.
//
// # History and logs
//
// Every attempt is on record, with its error and stack if any: [Queue.Attempts]. One that succeeds costs no row of its
// own. Lines that a handler logs with [Attempt.Logger] go to the dispatcher's logger, and the last of them into the
// transaction that ends the attempt: [Queue.Logs] returns them.
//
// # Handlers
//
// [Handle] takes options for one type: [WithTimeout], [WithRetry], [WithRetryFunc], [WithConcurrency],
// [WithPool]. A job may have a timeout of its own ([Options].Timeout). [DispatcherConfig].Middleware
// wraps all handlers, and [Config].OnEnqueue sees and changes all jobs before they are stored.
//
// A payload that is [Versioned] is brought into the form of the running program, and a job of a newer version is left
// to processes that know it.
//
// # Events
//
// [Queue.Subscribe] reports jobs as they are enqueued, start, are retried, complete, fail and are canceled: each event
// after its transaction has committed, and those of one job in order. It reports the changes that this Queue value and
// its dispatchers make in transactions that the queue begins. Other processes, other Queue values on the same database,
// transactions of the program's own and jobs that expire are not reported. Nothing is kept for later subscribers. A
// slow subscriber loses the oldest events, and [Event].Missed is their number. Events are for screens and logs: work
// that must follow a job belongs in its transaction, as another job.
//
// [Queue.Wait] waits for the end of one job, wherever it runs, and [Result] reads its result.
//
// # Telemetry
//
// Traces and metrics go to OpenTelemetry: to the providers in [Config], else to the global ones. Without an SDK that
// costs next to nothing.
//
// A job carries the W3C trace context of the span it was enqueued in ([Job].TraceParent; trace state and baggage are
// not kept). Each attempt is a consumer span named queue.job, in the context of its handler. It begins a trace of its
// own that links to the span of the enqueueing; with [Config].ChildSpans it is a child of that span. Enqueueing makes
// no span. Spans have the attributes
//
//	messaging.system           postroom
//	messaging.operation.type   process
//	messaging.destination.name type of the job
//	messaging.message.id       id of the job
//	messaging.client.id        worker
//	postroom.job.type          type of the job
//	postroom.job.attempt       number of the attempt
//	postroom.job.wait          seconds from due to start
//	postroom.job.outcome       see below
//
// and the status Error when the attempt failed; that of a panic has an exception event with the stack. The metrics are
//
//	postroom.queue.enqueued          {job}      counter    type            jobs stored, without duplicates
//	postroom.queue.claimed           {job}      counter    type            jobs claimed
//	postroom.queue.ended             {attempt}  counter    type, outcome   ends that were written, and jobs canceled
//	postroom.queue.running           {job}      up-down    type            handlers that run
//	postroom.queue.handler.duration  s          histogram  type, outcome   how long a handler ran
//	postroom.queue.wait              s          histogram  type            from due to start
//
// with type as postroom.job.type and outcome as postroom.job.outcome: completed; failed, for good; retried, which is
// failed and runs again; interrupted; crashed; waiting, for a signal; canceled; and of spans and durations lost, when
// the lease was. Jobs that expire, or that a flow cancels, are not among those that ended: count them in the database,
// with [Queue.Counts].
//
// Log lines are written with a context that holds the span of the attempt they are about, and have the keys job_id,
// job_type, attempt, worker_id and error.
//
// # Goals
//
//   - An accepted job survives the death of the process at any instruction.
//   - The right to write, and the effect of each failure, are plain to see.
//   - It is fast because it does little: a claim or a batch of completions is one transaction of few statements.
//
// # Non-goals
//
//   - Running a job exactly once. Its effects in the database happen once; the handler may run more than once.
//   - Being a message broker between programs that share no database.
//   - Strict order of jobs without a Sequence. Claims are ordered; jobs run side by side.
//   - Stopping a handler that ignores its context. Go cannot; its lease is taken away instead.
package queue
