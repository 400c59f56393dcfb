// Package gmail keeps Gmail mailboxes and a database in step: mail comes in as jobs, and actions go out as jobs.
//
// # The way of the data
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
// A [Client] calls Gmail, a [Store] keeps the mail, and [Register] registers the handlers of the jobs with a
// [queue.Dispatcher]. Each job calls Gmail first and then commits once: what it stores, the jobs that follow and its own
// completion are one transaction. This package does not decide about mail: the host's OnMessage enqueues the job that does, or its
// Decide spares that job where rules alone decide. The decision comes back through a [Ledger] as an action to carry out. Package undo uses a [Mailbox] to undo actions.
//
// # Who owns what
//
// Only this package writes the tables accounts, threads, messages, broken_messages and labels, those of the index of searches, those of
// a reconciliation and those of what is sent.
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
// # Lists and searches
//
// [Store.Search] and [Store.SearchThreads] find stored mail by the language of Gmail's search box, newest first, page by page.
// Whether a message is found is decided by reading it and comparing it with the query, and by nothing else. An index chooses the
// messages to read, the candidates: more than are found at times, and never fewer.
//
// The index answers one kind of question: in which seconds were messages received that have this term, from that second back? A
// term is a word in a field (sender, recipients, subject, file name, List-ID, Delivered-To, or anywhere), a property such as
// has:attachment, a Message-ID, or a size to the power of two; a label is asked about in the same way. Seconds come in the order of
// the results, so that a query's tree is answered by walking down several such lists at once, and only as far as a page reaches:
//
//	and             the seconds that all nodes have; nodes without an answer are left out
//	or              the seconds that one node has; if one has no answer, there is none
//	not, dates      no answer; dates at the top of the query bound the walk
//	phrase, AROUND  the seconds that all of its words have, or of more than eight the longest
//	label           the seconds of message_labels
//
// A query without an answer (a minus alone, no query) is answered by going through the messages from the newest on, with labels, dates
// and sizes at its top decided by the database. A message that is deleted, or comes again with other words, leaves what the index
// had of it: its seconds lead to nothing, or to a message that is read and not found.
//
// message_terms holds the seconds of all terms but labels. Each row has those of one of 512 slots, by the hash of the term, and of 2^20
// seconds of time: lists of terms and of differences between seconds, of up to about 4 KB, after which another row begins. So a
// word costs two or three bytes for each message that has it; a hundred short rows are read for a word in ten years of mail; and
// taking in 512 messages writes some 512 rows, where a row for each word of each message would be 80,000.
//
// For that reason messages are taken in together. The transaction that stores a message stores its terms in unindexed_messages, as one
// value; when 512 wait, the next history sync or page of a backfill enqueues index.gmail, which moves them into message_terms.
// Searches read what waits, and then message_terms: what is moved in between is seen twice. When more than 2,048 wait, as after an
// upgrade from a version without an index, whose migration lets all stored messages wait, words have no answer until the job has
// got there. [Store.IndexMessages] does the same without the job. On PostgreSQL a trigger lets each message wait that a daemon of such
// a version stores beside this one.
//
// message_labels has a row for each label of each message. Triggers on messages keep it exact, since a list of what ever was unread
// would help nobody who looks for what is.
//
// # What a person does
//
// A history sync stores what a person or another program does to stored messages, and reports it by Config.OnLabelsChanged and
// Config.OnDeleted, once, in the transaction that stores it. An action of this program stores its own change when it is made, and no other,
// so that the history that follows reports what a person has done at the same time, and nothing else. An action that is still
// executing when a sync reads its change is reported: ask the ledger where that matters.
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
// asked: [Outbox.Preview] shows them, their hash and that of the thread is recorded with the action
// ([postroom.Action.ContentSHA256]), and the job
// sends these bytes or none. They have no date; Gmail adds that of the sending. Files of a forward stay at Gmail until the bytes
// are built.
//
// What is sent is what the ledger has signed, whatever the tables of this package say. A message is composed of an action that the ledger
// vouches for ([OutboxLedger.Vouched]) and of the original as Gmail has it; its hash is signed in the transaction that stores it; and a stored
// message is sent only if its bytes have that hash. What is stored while the action has no hash was composed by nobody, and is replaced. The payload of a job names
// the action, and says nothing else.
//
// A message is sent once. Its Message-ID is chosen when it is composed, and each attempt to send is announced: the ledger signs with the action,
// before Gmail is asked, to which mailbox, with which Message-ID and from when on a later attempt is to look ([OutboxLedger.Announce]). When the outcome of
// an attempt is not known (no answer, a server error, the death of the process) the job looks for
// the message by its Message-ID, in Gmail's search and in the history since before the attempt, and sends again only when both
// have not got it after the time that Gmail may take ([OutboxConfig.Settle]). Looking spends no attempts of the job. A message
// that was sent is never marked as failed, unless somebody has altered its action since.
//
// What is not signed: how much a recipient has got, and what was sent before about a message. Who deletes that has the limits begin anew, for actions
// that are permitted otherwise. Nor is anything about drafts: see [Drafts].
//
// What was sent belongs to the mailbox, not to the id of an account. [Store.RemoveAccount] keeps hashes of what the account had sent,
// about which of Gmail's messages, to whom and when. When the mailbox comes back, as another account, what it has sent of an action is
// refused unless a person has approved that action, and the limits of its recipients go on. [Store.SentBefore] tells a ledger before, so
// that it cancels such an action or asks about it; [Store.ForgetSent] deletes the hashes. A send that a removal has interrupted counts
// as one that may have been made. Nothing of this is pruned: old mail is sorted anew with the rest.
//
// A reply goes to Reply-To, if that is at the sender's domain, or else From; it comes from the address that the original was
// written to, and carries what Gmail and the recipient need to put it into the thread. A forward begins a new thread. Bcc is
// never told. These messages are refused, with the reason on record, and [ClassRefused] to the caller:
//
//   - a reply to what a program sent, or what went to many ([mime.Header.Automatic]); to spam; to the mailbox itself; to an
//     address that nobody reads; to a Reply-To at another domain, unless a parameter names it;
//   - a forward of a notice about mail, back to the sender, to the mailbox itself, or of what the mailbox has forwarded before;
//   - to a recipient who has got a reply within [OutboxConfig.ReplyInterval], or too many messages in a day;
//   - what the mailbox has sent, or may have sent, before its account was removed, unless a person has approved it;
//   - with too many recipients, with too many bytes, or with values that are no addresses.
//
// Every message carries Auto-Submitted and X-Loop, a reply also Precedence, so that other programs do not answer it
// (RFC 3834).
//
// [Drafts] makes drafts, one for each key of the host's, sends and deletes them, and finds out what a person has done with them,
// by the same means: the Message-ID and the position in the history are stored before Gmail is asked. A draft that answers a message and
// was sent, by the program or by a person, is a reply to it: rules do not send another one to the same people. It counts for whom it was
// made for, whomever a person has sent it to, and not for the limits of recipients. A removed account leaves hashes of it, too.
//
// # Accounts
//
// A job that finds its account removed is canceled, and so is its action.
//
// An account is active, paused by a person ([Store.Pause]), or waits for a person to sign in again ([AccountReauthorize]). Jobs of an
// account that is not active wait without being claimed, by the pause of their [LimitKey], and run as soon as [Store.Resume]
// is called. The first job that finds the grant gone stops the account and calls Config.OnReauthorize, in one transaction.
// Package gmail/auth signs people in, and [NewClients] makes one [Client] for each account. On PostgreSQL the clients of all
// processes together keep the quota of an account.
//
// # Batches
//
// Messages that are read, and changed, at about the same time go to Gmail in one request, a batch of up to 50 calls, which Gmail
// answers each by itself. Their units, their limits and their errors are those of single calls; no more calls go together than
// [Limits].Concurrent allows. A call alone is sent alone, and a server that knows no batches gets single calls.
//
// # Why each message is changed by a call of its own
//
// Gmail changes up to 1,000 messages by one batchModify, for the price of ten. Actions do not use it: it does not return the labels
// that a message has afterwards, which the undo of an action needs exactly, and a read for each costs four times what the
// call saves. Nor does it say which of its messages it has changed when it fails.
//
// # What happens on failure
//
// [Verdict] is the one place that decides: see there and at [Class].
//
//   - Rate limits put a job off and spend no attempt. After a Retry-After the client makes no call until the time has come,
//     unless its Limits are Unlimited. Where the limit is that of what may be sent, it makes no call that sends.
//   - Without Gmail or without a network, backfills, ingests and actions are tried for about eight hours. A history sync
//     that fails needs no care: the next one starts from the same cursor.
//   - History that Gmail has forgotten: the profile is read, the cursor is set there, recent messages are fetched first, and
//     a reconciliation lists the ids of all messages and of each label. Each difference is verified by reading the message,
//     so that in the end the store is the mailbox: messages that were deleted, relabelled, or came with an old date
//     included. Of an account that was never backfilled whole, and of spam and trash unless Config.SpamAndTrash is set,
//     only messages that came or changed in the gap are added. See [Reconciliation] and [NewReconcileJob], which also serves
//     a schedule.
//   - Every message that arrives is read, however it is made: what is beyond [mime.Limits] is an opaque attachment, and the
//     rules see the rest. An answer in which there is no message (nothing, or no base64) is kept as it came, listed by
//     [Store.Broken], and its job fails with the reason. When the cause is repaired, retry the job; the mark and the bytes
//     go when it succeeds.
//   - A message that is gone: its ingest ends well, its action fails with that reason.
//   - Labels that are missing while the ledger holds everything are not made, but wanted: mail is decided about as if they were there,
//     and the labels sync that may make them does, or the action that needs one. See [Store.WantedLabels].
//   - A list of labels that is empty is a fault of the answer. Nothing is deleted, and the job is tried again.
//   - An action whose answer is lost is tried again. What the message was before the first attempt is a step of the job,
//     stored before anything is changed, so the undo hint has the first image whatever happens after it. Permanent deletion
//     is announced by a step as well: a retry that finds the message gone knows that it did it.
//   - A snoozed message: the job that wakes it is stored before the message leaves the inbox, and stays when the snooze fails,
//     since nobody knows then whether the message sleeps. It waits for the actions of the message that execute, so that it never
//     comes before their effect. It goes by the signed action, and without one wakes only what sleeps under Config.SnoozeLabel. It leaves a message in the trash or the spam where it is.
//   - An action that fails for good, or for the last time, is failed in the ledger before its job is failed.
package gmail
