// Package queue is a durable job queue that lives in the database of the program that uses it.
//
// A job is a row. A handler's writes, the jobs that follow from them and the job's own completion are one transaction of
// that database, so there is no moment at which one of them is there without the others. The packages queue/sqlite and
// queue/postgres open a database; this one needs no driver and no server of its own.
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
// # States
//
//	queued           → running    it is claimed
//	running          → completed  its handler succeeded
//	running          → queued     its handler failed or was interrupted, or its process died, and it may try again
//	running          → failed     it may not, or the error is Fatal
//	queued, running  → canceled   Queue.Cancel
//	running          → canceled   it coalesces, was to run again, and another waits in its place
//	queued           → canceled   it is past its ExpiresAt
//	failed, canceled → queued     Queue.Retry
//
// A job that waits for its time, or for its next attempt, is queued with a NotBefore in the future. Claims take what is
// due: highest priority first, then earliest due, then oldest.
//
// # Who may write what
//
// Each claim counts the job's Attempt up. Job id and attempt together are the [Lease], and every write about a running job
// names it: completing, failing, giving back, starting and finishing a step, and each transaction that a handler opens with
// [Attempt.Write] or [Attempt.Complete]. The database compares it with the job inside the transaction that writes, and
// refuses it with [ErrLeaseLost] when a later attempt holds the job, with [ErrNotRunning] when none does, and with
// [ErrJobNotFound] when there is no such job. A worker that was taken for dead and comes back can therefore do nothing
// to a job, or in a handler's transaction, that another has taken over, however late it comes.
//
// What a handler does outside the database is not fenced. It can be repeated after a crash: make it idempotent, or guard
// it with a step and look, before it is tried again, whether it took effect (see below).
//
// # One transaction
//
// [DB.Write] runs a function in a write transaction. Every call that changes something has a variant that takes the
// transaction ([Queue.EnqueueTx], [Queue.CompleteTx], …), so that a program's own rows and its jobs commit together.
// [Attempt.Complete] is the usual end of a handler: the job is completed in the transaction that holds the handler's
// writes and the next jobs. Either all of it happened, or the job runs again as if none had.
//
// Transactions may share a commit with those of other goroutines and hold the only right to write while they run: a
// function given to Write does database work and waits for nothing else.
//
// # Leases and who judges them
//
// A dispatcher registers as a worker and counts up its beat with one write every third of a lease, however many jobs it
// runs. Every dispatcher also watches the others' beats. One that has not changed for a whole lease, measured by the
// watcher's own monotonic clock, belongs to a dead process: in one transaction the worker is removed, if its beat still is
// what was seen, and its jobs are given back. No two machines' clocks are compared, and a clock that is set
// neither kills nor saves anybody. A watcher that has itself stood still begins its measuring anew. A dead worker's jobs
// run again within two leases.
//
// A process that was declared dead learns of it at its next beat, which is refused: it cancels its handlers with the cause
// [ErrLeaseLost] and goes on under a new name. One that cannot reach the database for a lease does the same by itself.
//
// # Budgets
//
// An attempt that does not complete its job ends in one of three ways, each with a count and a bound of its own:
//
//   - failed: the handler returned an error or panicked. [Options].MaxAttempts failures end the job.
//   - interrupted: [Defer], a shutdown, a lease that could not be kept. Nobody's failure; [Budget].Interruptions bounds it
//     generously, against jobs that defer for ever.
//   - crashed: the process died. [Budget].Crashes bounds it, against jobs that kill their workers.
//
// [Queue.Retry] gives a failed or canceled job all its budgets back.
//
// # What happens when
//
//   - A handler returns an error: the job waits for [RetryPolicy] and runs again. [RetryAfter] names another wait, [Fatal]
//     ends the job.
//   - A handler panics, or calls runtime.Goexit: that is a failure, kept with its stack. Other jobs do not notice.
//   - A payload does not decode into its type: the job fails at once; no retry would mend it.
//   - A handler takes longer than [WithTimeout] allows: its context is canceled with the cause [ErrTimeout], and the error it
//     returns then is a failure that says how long it ran.
//   - A job is canceled while it runs: its handler's context is canceled with the cause [ErrCanceled], at once in the
//     same process, at the next beat in another. What the handler reports is ignored.
//   - A handler ignores that its context was canceled: after [DispatcherConfig].Grace it is given up. The end of its attempt
//     is written with its stack, as a failure after a timeout, so that the job runs again or has failed; its lease is gone,
//     and whatever it still writes is refused. Another handler gets its slot, so that the pool goes on, for as many as there
//     are Workers; beyond that, slots stay taken until their handlers return. [DispatcherConfig].Stuck is told.
//   - The dispatcher is stopped: it claims no more, waits for its handlers, cancels them with the cause [ErrShutdown],
//     waits again, and gives back unspent what did not end. A handler that does not even return then is named in Run's
//     error; its lease is gone, so that it can write nothing.
//   - The process is killed: its jobs run again after a lease, or at once when the next dispatcher is
//     [DispatcherConfig].Exclusive. What was committed stands, what was not has not happened.
//   - The database refuses: claims are tried again after the poll interval, at the latest after a second, the ends of jobs
//     until they are written.
//
// # Keys
//
// A [Key] makes enqueueing idempotent. [Forever] names what happens once, ever: the key outlives its job's row.
// [WhileUnfinished] names what must not overlap: it is free again when its job completes, fails for good or is canceled,
// and a job that is retried by hand must get it back. [ForPeriod] names what happens at most once in a time, whatever becomes
// of the job. [Coalesce] names what one run does for all that ask meanwhile: one job runs and at most one waits. While a key is
// taken, the same type and payload are answered with the holder's id, and anything else with [ErrKeyConflict], which shows
// the first difference.
//
// # Limits
//
// [Queue.SetLimit] bounds how many jobs of a type, of a limit key ([Options].LimitKey), or of each key that begins so, run at
// once, and how many start in a time; [Queue.Pause] lets none start. Both are rows, in force for all machines from the commit
// on. A claim counts what runs and what has started in the transaction that claims, so that no limit is exceeded, and nothing
// is counted up and forgotten: a job has its place from its claim to its end, a dead worker's jobs until they are
// taken back and never after.
//
// Rates follow the generic cell rate algorithm: a start every Per ÷ Rate, and Burst at once after a quiet time. What starts is
// what is claimed, also what is claimed ahead and given back.
//
// Jobs that their key keeps back wait apart and are not in the way of others, however many and urgent they are. Jobs with a
// key that nobody has limited run freely.
//
// # What is kept, and what can be read
//
// Finished jobs are deleted after [Config].Retention, a few at a time. [Queue.Redrive] retries all that a [Filter] finds.
//
// All that is stored has a bound. Payloads, results, and the results and cursors of steps have [Config].MaxPayload, 1 MiB,
// each; what is larger is refused with [ErrInvalidJob] or [ErrTooLarge] before anything is written. Errors and stacks are cut
// at 32 KB, logs as [Attempt.Logger] says.
//
// A [Codec], such as [EncryptingCodec], encodes
//
//   - payloads, of jobs and of schedules,
//   - results, and the results and cursors of steps,
//   - the errors that handlers end with, and their stacks,
//   - the messages and attributes of log lines.
//
// All else stays readable: types, states, priorities, times, keys, limit keys, users, tags, trace contexts, the names of steps,
// schedules and workers, the levels and numbers of log lines, how each attempt ended, and what the queue itself says of it
// (that a worker died, that a job expired or was superseded). Without a [Fingerprinter], so does a SHA-256 of each payload with
// a key. A codec is about what is stored: handlers, events, [Queue.Jobs] and the like, the dispatcher's logger and the spans
// have errors and lines as they are.
//
// What is stored is decoded by the codec of its time, so that one can be added, and its keys rotated, while jobs wait.
//
// # Looking into it
//
// [Queue.Explain] tells why a job does not run, [Queue.Doctor] how the database and the workers are, [Queue.Verify] whether
// the tables hold what this page promises, and [Dispatcher.Check] what is stored that a new version of a program does not know.
// [Copy] moves all of it to another database while it works.
//
// # Claiming ahead
//
// A dispatcher claims not only for its free slots but as many jobs more as it has lately ended in [DispatcherConfig].Prefetch,
// 50 ms: jobs that take no time do not cost a claim each, and jobs that take long are not taken from others. Those that wait
// in a process are running in the database, under its lease. What waits too long, and what a stop finds not begun, is given
// back and counts as nothing.
//
// # Schedules
//
// [Queue.SetSchedule] stores a cron expression with its time zone and a job. Any dispatcher enqueues the job when the time
// has come, whoever has handlers for it: it locks the schedule's row, moves it on to the next instant and enqueues, in one
// transaction, so that of all machines one fires, and a crash fires later and not twice. When to fire next is stored, and
// not reckoned from the start of a process: a weekly schedule fires though processes are started anew every day. What was
// missed while none ran is fired once, or not, or each, as [Schedule].CatchUp says. A clock that is set forward is as time in
// which none ran; one that is set back fires nothing again, and the schedule rests until the clock has come by its
// next instant ([Queue.PauseSchedule] and [Queue.ResumeSchedule] have it begin from now). A schedule whose expression or zone
// a machine does not understand is logged there and keeps no other from firing.
//
// Schedules that are set in a process with a dispatcher are heard of at once, those of other processes after about a second,
// and where that is not heard of, as behind a pooler of connections, within half a minute.
//
// # Steps
//
// [Step] stores the result of a named part of a job before it returns; a later attempt gets it and does not run the part
// again. [StepTx] does so in the transaction of the part's own writes, and then it happens exactly once. For what must not be
// repeated blindly, such as a letter that is sent, [Attempt.StartStep] records the intent first: an attempt
// that finds it, and no result, asks the other side what became of it.
//
// A part that takes long saves how far it has come: [SaveCursor] stores a position in a list, [SaveCursorTx] in the
// transaction that has handled what came before it, and [Cursor] gives it to the attempt that goes on.
//
// # History and logs
//
// Every attempt is on record, with its error and stack where it has any: [Queue.Attempts]. One that succeeds costs no row
// of its own. What a handler logs with [Attempt.Logger] goes to the dispatcher's logger and, the last lines of it, into the
// transaction that ends the attempt: [Queue.Logs] shows it beside the job. A handler that logs nothing costs nothing.
//
// # Handlers
//
// [Handle] takes what is particular to a type: [WithTimeout], [WithRetry], [WithConcurrency]. What is common to all wraps
// them: [DispatcherConfig].Middleware.
//
// # Events
//
// [Queue.Subscribe] tells of jobs as they are enqueued, start, are retried, complete, fail and are canceled: each event after
// its transaction has committed, and those of one job in order. It tells what this Queue value and its dispatchers do. Other
// processes, other Queue values on the same database and jobs that expire are not heard; nothing is kept for those who
// subscribe later, and a slow subscriber loses the oldest events and is told how many ([Event].Missed). Events are for screens
// and logs: what must happen after a job belongs in its transaction, as a job that follows.
//
// [Queue.Wait] waits for the end of one job, wherever it runs, and [Result] reads what it has stored.
//
// # Telemetry
//
// Traces and metrics go to OpenTelemetry: to the providers in [Config], else to the global ones. Without an SDK that costs next
// to nothing.
//
// A job carries the W3C trace context of the span it was enqueued in ([Job].TraceParent; trace state and baggage are not
// kept). Each attempt is a consumer span named queue.job, in the context of its handler. It begins a trace of its own that
// links to the span of the enqueueing; with [Config].ChildSpans it is a child of that span. Enqueueing makes no span. Spans
// have the attributes
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
// with type as postroom.job.type and outcome as postroom.job.outcome: completed; failed, for good; retried, which is failed and
// runs again; interrupted; crashed; canceled; and of spans and durations lost, when the lease was.
//
// Lines of the logger are written with a context that holds the span of the attempt they are about, and have the keys job_id,
// job_type, attempt, worker_id and error.
//
// # Goals
//
//   - Whatever was accepted survives the death of the process at any instruction.
//   - It is plain to see who may write, and what happens on each failure.
//   - It is fast because it does little: a claim or a batch of completions is one transaction of few statements.
//
// # Non-goals
//
//   - Running a job exactly once. Its effects in the database are; the handler may run more than once.
//   - Being a message broker between programs that share no database.
//   - Strict order. Claims are ordered; jobs run side by side.
//   - Stopping a handler that ignores its context. Go cannot; its lease is taken away instead.
package queue
