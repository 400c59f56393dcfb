// Package discord asks for approvals in a channel of Discord: a message with buttons for each request of a [safety.Ledger],
// updated in place when the request is answered, there or elsewhere, withdrawn or expired.
//
// # Wiring
//
// The ledger's host enqueues [NewNotifyJob] from Ask and OnAnswer of [safety.Config]. [Register] registers the handlers of the jobs
// with a dispatcher; [Bot.Run] keeps the connection over which presses come. [NewDigestJob] is for a schedule.
//
// # One message for each request
//
// The job approval.notify makes the messages of an action be what the ledger says, whatever has happened before. That a message
// is about to be posted is on record before, its id after. An attempt that follows a crash between the two looks for the
// message in the channel; and Discord refuses a second one with the same nonce, if the first request to post it is still under way.
//
// # Who may press what
//
// Only people in the table discord_whitelist decide; see [SetWhitelist], which signs the list: a list that something else has written
// counts for nobody. A request that was altered since it was made has no button to approve it. The id of a button is signed: with a key derived from the
// ledger's, over the verb, the request with its digest, and the channel. A press counts only on the recorded message of the
// request, and answers the request that the message showed or none. The ledger decides the rest: the first answer stands, and whoever comes
// second is told who was first.
//
// The person who presses gets an answer that only they see, at once or, when the database is slow, in two parts.
//
// # What strangers wrote
//
// Text that comes from mail or from a model is shown as code, cut, without control and bidirectional characters, so that it can
// neither mention anybody nor format, link or imitate anything.
//
// # When something fails
//
// Calls that fail are retried by the queue; what Discord's rate limits put off is deferred, not failed. A press that is lost while
// the connection is down shows as failed at Discord, and can be repeated.
package discord
