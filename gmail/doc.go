// Package gmail keeps Gmail mailboxes and a database in step: mail comes in as jobs, and actions go out as jobs.
//
// # The way of the data
//
//	backfill.gmail      one page of older mail ──┐
//	history.sync.gmail  what has changed since ──┼─→ ingest.gmail ─→ Config.OnMessage ─→ …
//	labels.sync.gmail   the labels, and their going: Config.OnLabelDeleted
//	                                              … ─→ action.gmail ─→ Gmail, and Ledger
//
// A [Client] calls Gmail, a [Store] keeps the mail, and [Register] registers the handlers of the jobs with a
// [queue.Dispatcher]. Each job calls Gmail first and then commits once: what it stores, the jobs that follow and its own
// completion are one transaction. This package does not decide about mail: the host's OnMessage enqueues the next job, and
// the decision comes back through a [Ledger] as an action to carry out. Package undo uses a [Mailbox] to undo actions.
//
// # Who owns what
//
// Only this package writes the tables accounts, threads, messages, broken_messages and labels.
// Rows are keyed by the account and Gmail's id and keep our own id for ever. Gmail is the truth and the tables are the
// copy: a change that Gmail sees in the same moment as we do may reach the labels stored here late, so whatever acts, and
// whatever takes back, asks Gmail. Two columns are the user's: what a label is for, and whether a model may choose it.
//
// # The cursor
//
// An account's HistoryID is a promise: everything that happened up to it has been queued. It is moved only in the
// transaction that queues what happened, and only forward. The first page of a backfill reads it before it lists anything,
// and a push, which carries the newest id there is, never sets it. So mail is seen twice at times, and lost at none: the
// keys of the jobs make twice once.
//
// # What happens on failure
//
// [Verdict] is the one place that decides: see there and at [Class].
//
//   - Rate limits put a job off and spend no attempt. After a Retry-After the client makes no call until the time has come,
//     unless its Limits are Unlimited.
//   - Without Gmail or without a network, backfills, ingests and actions are tried for about eight hours. A history sync
//     that fails needs no care: the next one starts from the same cursor.
//   - History that Gmail has forgotten: the profile is read, the cursor is set there, and what arrived since the last sync
//     is listed and fetched, known messages included. What was deleted in the gap is found gone when something acts on it.
//     A gap of more than 30 days wants a full backfill; a warning says so.
//   - A message that cannot be read (beyond [mime.Limits], or no base64) is kept as it came, listed by [Store.Broken], and
//     its job fails with the reason. When the cause is repaired, retry the job; the mark and the bytes go when it succeeds.
//   - A message that is gone: its ingest ends well, its action fails with that reason.
//   - A list of labels that is empty is a fault of the answer. Nothing is deleted, and the job is tried again.
//   - An action whose answer is lost is tried again. What the message was before the first attempt is a step of the job,
//     stored before anything is changed, so the undo hint has the first image whatever happens after it. Permanent deletion
//     is announced by a step as well: a retry that finds the message gone knows that it did it.
//   - An action that fails for good, or for the last time, is failed in the ledger before its job is failed.
package gmail
