// Package discord asks for approvals in a channel of Discord: a message with buttons for each request of a
// [safety.Ledger], updated in place when the request is answered, there or elsewhere, withdrawn or expired.
//
// # Wiring
//
// The ledger's host enqueues [NewNotifyJob] from Ask and OnAnswer of [safety.Config]. [Register] registers the
// handlers of the jobs with a dispatcher. [Bot.Run] keeps the connection that delivers presses. [NewDigestJob] is for
// a schedule.
//
// # One message for each request
//
// The job approval.notify updates the messages of an action to match the ledger, whatever has happened before. The
// job records that it is about to post a message, posts it, and records its id. After a crash between the two
// records, the next attempt looks for the message in the channel. If the first request to post it is still under way,
// Discord refuses a second one with the same nonce.
//
// # Permissions
//
// Only people in the table discord_whitelist may answer; [SetWhitelist] sets it. A request that was altered since it
// was made has no button to approve it. The id of a button is signed with a key derived from the ledger's, over the
// verb, the request with its digest, and the channel. A press counts only on the recorded message of the request, and
// answers only the version of the request that the message showed. The ledger decides the rest: the first answer
// stands, and a second person learns who was first.
//
// The person who presses gets an answer that only they see. If the database is slow, it comes in two parts.
//
// # Untrusted text
//
// Text from mail or from a model is shown as code, shortened, without control and bidirectional characters. So it
// cannot mention anybody, or format, link or imitate anything.
//
// # Failures
//
// The queue retries failed calls. A call that Discord's rate limits refuse is deferred, and is not a failure. A press
// that is lost while the connection is down shows as failed at Discord, and can be repeated.
package discord
