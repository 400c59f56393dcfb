// Package gmail keeps Gmail mailboxes and a database in step: mail comes in as jobs, and actions go out as jobs.
//
// # Data flow
//
//	backfill.gmail      one page of older mail ──┐
//	history.sync.gmail  what has changed since ──┼─→ ingest.gmail ─→ Config.OnMessage ─→ …
//	labels.sync.gmail   the labels, and their going: Config.OnLabelDeleted
//	watch.gmail         asks Gmail to publish changes, for a PushHandler or another caller of a Receiver
//	index.gmail         makes stored mail quick to search, many messages at once
//	reconcile.gmail     all that is stored, against all that Gmail has: Config.OnReconciled
//	                                              … ─→ action.gmail ─→ Gmail, and Ledger
//	                                                        └→ outbound.send, for forward and auto_reply
//	unsnooze.gmail      a snoozed message comes back, at its time
//
// A [gmailapi.Client] calls Gmail, a [mailstore.Store] keeps the mail, and [Register] registers the handlers of the jobs with a [queue.Dispatcher].
// Each job calls Gmail first and then commits once: its writes, the jobs that follow and its own completion are one transaction.
// This package does not decide about mail: the host's OnMessage enqueues the job that does, or its Decide makes that job
// unnecessary if rules alone decide. The decision comes back through a [Ledger] as an action to carry out. Package undo uses a
// [Mailbox] to undo actions.
//
// # The cursor
//
// An account's HistoryID is a cursor: everything that happened up to it has been queued. It is moved only in the transaction that
// queues what happened, and only forward. The first page of a backfill reads it before it lists anything. A push, which has the
// newest history id, never sets it. So mail may be seen twice, and is never lost; the keys of the jobs remove duplicates.
//
// # Changes by people
//
// A history sync stores the changes that a person or another program makes to stored messages. It reports them by
// Config.OnLabelsChanged and Config.OnDeleted, once, in the transaction that stores them. An action of this program stores its
// own change when it is made, and no other, so that the following history reports only what a person has done at the same time.
// If an action is still executing when a sync reads its change, the change is reported: ask the ledger where that matters.
//
// # What cannot be taken back
//
// A stored message is a copy, which nothing signs. So before an action starts that is [postroom.Dangerous], and that no person has approved, its
// job reads the message at Gmail, by the id that the ledger has signed, and asks Config.Confirm whether it is decided about in the same way. If not,
// the action waits for a person. The labels are those that the message had before the first action of this program since the decision,
// as the ledger has signed them; what people and Gmail have changed since counts. Of rules, the Confirm of the engine of package rules tries all as they are now,
// as of the time of the decision: times and ages are those of then. Whether the sender has written before is asked of the
// stored mail again, which is not signed: a rule with sender_seen that deletes or sends on its own goes by that. A label counts as Gmail has
// it, also if a rule has put it there.
//
// # Sending
//
// An [Outbox] composes the message of an action, and fixes its bytes before the first attempt to send and before a person is
// asked: [Outbox.Preview] returns them; the hash of the bytes and the thread is recorded with the action
// ([postroom.Action.ContentSHA256]); and the job sends these bytes or none. They have no date; Gmail adds the date of sending.
// Files of a forward stay at Gmail until the bytes are built.
//
// Only what the ledger has signed is sent, whatever the tables of this package say. A message is composed from an action that the
// ledger verifies ([OutboxLedger.Verified]) and from the original as Gmail has it. Its hash is signed in the transaction that
// stores it, and a stored message is sent only if its bytes have that hash. A message that is stored while the action has no hash
// was written by something else, and is replaced. The payload of a job names the action, and nothing else in it counts.
//
// A message is sent once. Its Message-ID is chosen when it is composed, and each attempt to send is announced: before Gmail is
// asked, the ledger signs with the action the mailbox, the Message-ID and the position in the history from which a later attempt
// looks ([OutboxLedger.DeclareIntent]). If the outcome of an attempt is unknown (no answer, a server error, the death of the process),
// the job looks for the message by its Message-ID, in Gmail's search and in the history since before the attempt. It sends again
// only if neither has the message after the time that Gmail may take ([OutboxConfig.Settle]). Looking spends no attempts of the
// job. A message that was sent is never marked as failed, unless its action was altered since, or the message was permanently deleted
// before it was found: if sent mail is gone from the mailbox, the message may have been part of it. Then nothing is sent again; the
// action fails, and its reason asks a person to find out.
//
// The longer the outcome is unknown, the less often the job looks: for more than a year, with the queue's default budget. If the job
// ends without its handler (canceled, or interrupted or crashed too often), the action stays executing until the next job of the
// message, which looks for it in the same way, sends nothing, and ends it as completed or failed.
//
// The counts of messages to each recipient, and the record of what was sent before about a message, are not signed. Deleting them
// resets the limits, for actions that are otherwise permitted. Drafts are not signed either: see [Drafts].
//
// The record of what was sent belongs to the mailbox, not to the id of an account. [RemoveAccount] keeps hashes of what the
// account had sent, about which of Gmail's messages, to whom and when. If the mailbox comes back, as another account, an action
// that would send the same is refused unless a person has approved it, and the limits of its recipients continue.
// [SentRecord.SentBefore] informs a ledger earlier, so that it cancels such an action or asks about it; [SentRecord.Forget] deletes the
// hashes. A send that a removal has interrupted counts as possibly made. The hashes are not pruned: old mail is sorted as new
// with the rest.
//
// A reply goes to Reply-To, if that is at the sender's domain, or else to From. It comes from the address that the original was
// sent to, and has the fields that Gmail and the recipient need to put it into the thread. A forward begins a new thread. Bcc is
// never disclosed. These messages are refused, with the reason on record, and [gmailapi.ClassRefused] to the caller:
//
//   - a reply to mail that a program sent, or that went to many ([mime.Header.Automatic]); to spam; to the mailbox itself; to an
//     address that nobody reads; to a Reply-To at another domain, unless a parameter names it;
//   - a forward of a notice about mail, back to the sender, to the mailbox itself, or of mail that the mailbox has forwarded
//     before;
//   - a message to a recipient who has received a reply within [OutboxConfig.ReplyInterval], or too many messages in a day;
//   - a message that the mailbox has sent, or may have sent, before its account was removed, unless a person has approved it;
//   - a message with too many recipients, with too many bytes, or with invalid addresses.
//
// [Refusals] tells a ledger what of this is known when the action is decided, so that no person is asked about a message that would not be
// sent; the job looks again.
//
// Every message carries Auto-Submitted and X-Loop, a reply also Precedence, so that other programs do not answer it
// (RFC 3834).
//
// [Drafts] makes drafts, one for each key of the host's, sends and deletes them, and finds out what a person has done with them,
// by the same means: the Message-ID and the position in the history are stored before Gmail is asked. A draft that answers a
// message and was sent, by the program or by a person, is a reply to it: rules do not send another one to the same recipients. It
// counts for the recipients for whom it was made, even if a person has sent it to others, and not for the limits of recipients. A
// removed account leaves hashes of it as well.
//
// # Accounts
//
// A job that finds its account removed is canceled, and so is its action.
//
// What a person has granted is stored with the account ([mailstore.Store.SetScopes]). A host tells by it which accounts delete permanently, which needs
// more than everything else ([RefusalsConfig].MayDelete).
//
// An account is active, paused by a person ([mailstore.Store.Pause]), or waits for a person to sign in again ([mailstore.AccountReauthorize]). Jobs of an
// account that is not active wait without being claimed, by the pause of their [mailstore.LimitKey], and run as soon as [mailstore.Store.Resume]
// is called. The first job that finds the grant gone stops the account and calls Config.OnReauthorize, in one transaction.
//
// Processes that share a database need not all have access to each account. A job whose process has neither a grant nor a token
// for the account ([gmailapi.ClassNoAccess]) is given back unspent, and the account stays active: a process that has access takes the job.
// The log warns once for each account. While no process has access, jobs are tried at growing intervals, for more than a year.
//
// Package gmail/auth signs people in, and [NewClients] makes one [gmailapi.Client] for each account. On PostgreSQL the clients of all
// processes together keep the quota of an account.
//
// # Batches
//
// Messages that are read or changed at about the same time share one request to Gmail, a batch of up to 50 calls, which Gmail
// answers separately. Their units, limits and errors are those of single calls; at most [gmailapi.Limits].Concurrent calls share a
// request. A single call is sent alone, and a server that does not support batches gets single calls.
//
// # Why each message is changed by a call of its own
//
// Gmail changes up to 1,000 messages by one batchModify, for the price of ten. Actions do not use it: it does not return the
// labels that a message has afterwards, which the undo of an action needs exactly, and a read for each message costs four times
// what the call saves. When it fails, it also does not say which messages it has changed.
//
// # Failures
//
// [gmailapi.Verdict] decides about errors; see there and at [gmailapi.Class].
//
//   - Rate limits defer a job and spend no attempt. After a Retry-After the client makes no call until the time has come, unless
//     its Limits are Unlimited. If the limit applies to sending, only calls that send wait.
//   - Without a grant in this process, a job is left to other processes; see Accounts.
//   - Without Gmail or without a network, backfills, ingests and actions are tried for about eight hours. A history sync that
//     fails needs no care: the next one starts from the same cursor.
//   - If Gmail has forgotten the history, the profile is read, the cursor is set from it, recent messages are fetched first, and
//     a reconciliation lists the ids of all messages and of each label. Each difference is verified by reading the message, so
//     that in the end the store equals the mailbox, including messages that were deleted, relabeled, or inserted with an old
//     date. For an account that was never backfilled whole, and for spam and trash unless Config.SpamAndTrash is set, only
//     messages that came or changed in the gap are added. See [Reconciliation] and [NewReconcileJob], which also serves a
//     schedule.
//   - Every message that arrives is read, however it is made: parts beyond [mime.Limits] are an opaque attachment, and the rules
//     see the rest. An answer without a message (empty, or no base64) is stored as it is and listed by [mailstore.Store.Broken], and its
//     job fails with the reason. After a repair, retry the job; the mark and the bytes are deleted when it succeeds.
//   - If a message is gone, its ingest completes, and its action fails with that reason.
//   - Missing labels are not created while the ledger holds everything, but are wanted: mail is decided about as if they existed.
//     The labels sync creates them once it may, or the action that needs one. See [mailstore.Store.WantedLabels].
//   - An empty list of labels is a fault of the answer. Nothing is deleted, and the job is tried again.
//   - An action whose answer is lost is tried again. The image of the message before the first attempt is a step of the job,
//     stored before anything is changed, so the undo hint has the first image whatever happens later. Permanent deletion is
//     announced by a step as well: a retry that finds the message gone knows that it deleted it.
//   - The job that wakes a snoozed message is stored before the message leaves the inbox, and stays if the snooze fails, since it
//     is then unknown whether the message sleeps. It takes the turn of the message in the ledger, as actions do, so that it
//     neither precedes their effect nor overlaps with them, and the ledger records what it has changed. It uses the signed
//     action; without one it wakes only a message under Config.SnoozeLabel. It leaves a message in the trash or the spam where
//     it is.
//   - Of several snoozes of a message the one that was executed last counts, by the order in the ledger, whether it ends sooner or
//     later. A wake-up that comes due before that one is put off until after it, and finds then that its snooze is over. If the
//     later snooze is undone, package undo makes the wake-up due.
//   - If the snooze label is deleted while a snooze is tried, the next attempt creates it again, and a wake-up that names it
//     replaces the first.
//   - An action that fails for good, or for the last time, is failed in the ledger before its job is failed.
package gmail
