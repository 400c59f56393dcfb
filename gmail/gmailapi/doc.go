// Package gmailapi calls the API of Gmail for one mailbox.
//
// A [Client] has a method for each call: messages, labels, the history, drafts, sending, filters and push. It keeps
// within Gmail's quota, shares requests among calls that are made at about the same time, and returns errors that say
// what to do.
//
// # Limits
//
// All that slows calls down is here. [Limits] bound the quota units per minute and the concurrent calls; each
// [Method] has its cost. The rate limiter (ratelimit.go) asks a budget for units before a call: that of this process
// (localbudget.go), or one that the processes of a PostgreSQL database share ([SharedLimits], sharedbudget.go). After
// a Retry-After (retryafter.go) the client refuses calls until the time has come, so that a job can be deferred and
// its worker is free. A limit on sending stops only the calls that send.
//
// The shared budget uses the tables quota_accounts and quota_leases. They refer to accounts, so the Migrate of package
// mailstore, which owns those, creates them.
//
// # Batches
//
// Messages that are read or changed at about the same time share one request, of up to 50 calls, which Gmail answers
// separately. Their units, limits and errors are those of single calls. A single call is sent alone, and a server
// that does not support batches gets single calls.
//
// # Errors
//
// Each error is an [*Error] with a [Class]: [ClassOf] returns it. [Verdict] turns an error into what the handler of a
// job returns: retry, defer or fail. After a call that sends, [IsUnclear] reports whether it may have taken effect
// all the same.
package gmailapi
