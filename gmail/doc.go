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
// A [gmailapi.Client] calls Gmail, a [mailstore.Store] keeps the mail, and [Register] registers the handlers of the
// jobs with a [queue.Dispatcher]. A job calls Gmail outside of transactions. Its last writes, the jobs that follow and
// its own completion are one transaction; a sync or backfill also commits each page, and an action its start and each
// step before Gmail is asked for it. This package does not decide about mail: the host's OnMessage enqueues
// the job that does, or its Decide makes that job unnecessary if rules alone decide. The decision comes back through
// a [Ledger] as an action to carry out. Package undo uses a [Mailbox] to undo actions.
//
// # The cursor
//
// An account's HistoryID is a cursor: everything that happened up to it has been queued. It is moved only in the
// transaction that queues what happened, and only forward. The first page of a backfill reads it before it lists
// anything. A push, which has the newest history id, never sets it. So mail may be seen twice, and is never lost; the
// keys of the jobs remove duplicates.
//
// # Changes by people
//
// A history sync stores the changes that a person or another program makes to stored messages. It reports them by
// Config.OnLabelsChanged and Config.OnDeleted, once, in the transaction that stores them. An action of this program
// stores its own change when it is made, and no other, so that the following history reports only what a person has
// done at the same time. If an action is still executing when a sync reads its change, the change is reported: ask
// the ledger where that matters.
//
// # What cannot be taken back
//
// A stored message is a copy, which nothing signs. So before an action starts that is [postroom.Dangerous], and that
// no person has approved, its job reads the message at Gmail, by the id that the ledger has signed, and asks
// Config.Confirm whether it is decided about in the same way. If not, the action waits for a person. The labels are
// those that the message had before the first action of this program since the decision, as the ledger has signed
// them; what people and Gmail have changed since counts. Of rules, the Confirm of the engine of package rules tries
// all as they are now, as of the time of the decision: times and ages are those of then. Whether the sender has
// written before is asked of the stored mail again, which is not signed, or of Gmail (package gmail/senders): a rule
// with sender_seen that deletes or sends on its own goes by that. A label counts as Gmail has it, also if a rule has
// put it there.
//
// # Sending
//
// Package gmail/outbox composes what forward and auto_reply send, and sends each message once; see its documentation.
// With [Config].Outbox the job of such an action enqueues one of type [outbox.JobSend], which is taken through the
// ledger like any other action.
//
// # Accounts
//
// A job that finds its account removed is canceled, and so is its action.
//
// What a person has granted is stored with the account ([mailstore.Store.SetScopes]). A host tells by it which
// accounts delete permanently, which needs more than everything else ([outbox.RefusalsConfig].MayDelete).
//
// An account is active, paused by a person ([mailstore.Store.Pause]), or waits for a person to sign in again
// ([mailstore.AccountReauthorize]). Jobs of an account that is not active wait without being claimed, by the pause of
// their [mailstore.LimitKey], and run as soon as [mailstore.Store.Resume] is called. The first job that finds the
// grant gone stops the account and calls Config.OnReauthorize, in one transaction.
//
// Processes that share a database need not all have access to each account. A job whose process has neither a grant
// nor a token for the account ([gmailapi.ClassNoAccess]) is given back unspent, and the account stays active: a
// process that has access takes the job. The log warns once for each account. While no process has access, jobs are
// tried at growing intervals, for more than a year.
//
// Package gmail/auth signs people in, and [NewClients] makes one [gmailapi.Client] for each account. On PostgreSQL
// the clients of all processes together keep the quota of an account.
//
// # Whose turn it is
//
// [LimitJobs] has at most four jobs of an account run at once, and starts as many a minute as its quota permits
// messages to be read. So a burst in one mailbox, however large, leaves the workers to the others. A job whose account
// has no quota left is given back before it begins, until the quota is there, and spends no attempt. What such a job
// needs is reserved in its process, so that a send, which needs five times what a read does, has its turn. A limit that
// an operator has set stays.
//
// Of one account new mail goes first, then actions, and old mail last: a backfill and what it finds leave a sixth of
// [gmailapi.Limits].Burst to the others. Reading a message takes 20 units, and an action on one that changes labels
// takes 25. So an account with the 6,000 units a minute of a new project reads 300 messages a minute if nothing is done
// with them, and about 130 if something is done with each.
//
// # Batches
//
// Messages that are read or changed at about the same time share one request to Gmail, a batch of up to 50 calls,
// which Gmail answers separately. Their units, limits and errors are those of single calls; at most
// [gmailapi.Limits].Concurrent calls share a request. A single call is sent alone, and a server that does not support
// batches gets single calls.
//
// # Why each message is changed by a call of its own
//
// Gmail changes up to 1,000 messages by one batchModify, for the price of ten. Actions do not use it: it does not
// return the labels that a message has afterwards, which the undo of an action needs exactly, and a read for each
// message costs four times what the call saves. When it fails, it also does not say which messages it has changed.
//
// # Failures
//
// [gmailapi.Verdict] decides about errors; see there and at [gmailapi.Class].
//
//   - Rate limits defer a job and spend no attempt. After a Retry-After the client makes no call until the time has
//     come, unless its Limits are Unlimited. If the limit applies to sending, only calls that send wait.
//   - Without a grant in this process, a job is left to other processes; see Accounts.
//   - Without Gmail or without a network, backfills, ingests and actions are tried for about eight hours. A history
//     sync that fails needs no care: the next one starts from the same cursor.
//   - If Gmail has forgotten the history, the profile is read, the cursor is set from it, recent messages are fetched
//     first, and a reconciliation lists the ids of all messages and of each label. Each difference is verified by
//     reading the message, so that in the end the store equals the mailbox, including messages that were deleted,
//     relabeled, or inserted with an old date. For an account that was never backfilled whole, and for spam and trash
//     unless Config.SpamAndTrash is set, only messages that came or changed in the gap are added. See
//     [Reconciliation] and [NewReconcileJob], which also serves a schedule.
//   - Mail that Gmail had received before the account was added ([mailstore.Account].DecideSince, by Gmail's time of
//     receipt) is stored, however it is found, and OnMessage is not called for it.
//   - Every message that arrives is read, however it is made: parts beyond [mime.Limits] are an opaque attachment,
//     and the rules see the rest. An answer without a message (empty, or no base64) is stored as it is and listed by
//     [mailstore.Store.Broken], and its job fails with the reason. After a repair, retry the job; the mark and the
//     bytes are deleted when it succeeds.
//   - If a message is gone, its ingest completes, and its action fails with that reason.
//   - Missing labels are not created while the ledger holds everything, but are wanted: mail is decided about as if
//     they existed. The labels sync creates them once it may, or the action that needs one. See
//     [mailstore.Store.WantedLabels].
//   - An empty list of labels is a fault of the answer. Nothing is deleted, and the job is tried again.
//   - An action whose answer is lost is tried again. The image of the message before the first attempt is a step of
//     the job, stored before anything is changed, so the undo hint has the first image whatever happens later.
//     Before a change of labels is repeated, the history of the message is read: what an earlier attempt has changed
//     and a person has taken back since stays so.
//     Permanent deletion is declared by a step as well: a retry that finds the message gone knows that it deleted
//     it.
//   - The job that wakes a snoozed message is stored before the message leaves the inbox, and stays if the snooze
//     fails, since it is then unknown whether the message sleeps. It takes the turn of the message in the ledger, as
//     actions do, so that it neither precedes their effect nor overlaps with them, and the ledger records what it has
//     changed. It uses the signed action; without one it wakes only a message under Config.SnoozeLabel. It leaves a
//     message in the trash or the spam where it is.
//   - Of several snoozes of a message the one that was executed last counts, by the order in the ledger, whether it
//     ends sooner or later. A wake-up that comes due before that one is put off until after it, and finds then that
//     its snooze is over. If the later snooze is undone, package undo makes the wake-up due.
//   - If the snooze label is deleted while a snooze is tried, the next attempt creates it again, and a wake-up that
//     names it replaces the first.
//   - An action that fails for good, or for the last time, is failed in the ledger before its job is failed.
package gmail
