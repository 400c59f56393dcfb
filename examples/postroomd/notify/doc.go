// Package notify tells people what they should know: that a grant died, that something waits for them, that a rule was
// disabled, that all or some of it was stopped, and in a digest what was done.
//
// A [Notice] has a kind and a subject. [Notifier.Tell] records both in the transaction of what happened and enqueues a
// job for each [Door]; a second notice of the same kind and subject changes nothing, also after a restart and from
// another machine on the same database. A door whose receiver does not answer is tried again by its job.
//
// In quiet hours nobody is disturbed by what can wait: the jobs are due when the hours end. Requests for approval are
// told together: [WaitsJobs] enqueues one job a minute at most, which tells of all requests that are new by then.
package notify
