// Package mailstore keeps the mail of Gmail accounts in a database: accounts, threads, messages and labels.
//
// [Migrate] creates the tables, [New] makes a [Store] of a database that package queue/sqlite or queue/postgres has opened. The jobs of
// package gmail fill it. A host reads it, and changes what belongs to people: which accounts there are ([Store.EnsureAccount]), whether
// their jobs run ([Store.Pause], [Store.Resume]), and what a label is for ([Store.DescribeLabel]).
//
// # Types
//
//	Store     accounts, threads, messages, labels, broken messages, and searches in them: for hosts and jobs
//	Progress  the cursor, the backfill and the watch of an account, as the jobs of package gmail move them on
//	Copies    the labels of messages, and whether Gmail still has them, as the jobs follow Gmail
//
// Reading methods see committed data. Writing methods take the caller's transaction, so that a job's writes, the jobs that follow and
// its completion are one.
//
// # The way of a message
//
// Gmail's bytes and what Gmail says about them are one message ([NewMessage]), made before a transaction begins, as are the terms by
// which searches find it. The transaction stores the message and its thread, keyed by the account and Gmail's ids, and lets the terms wait
// for the index ([Copies.Save], [Store.SaveMessage]). Rows have a permanent id of their own. An answer of Gmail's that is no message is
// kept as it came ([Store.Broken]). A message that is deleted at Gmail stays, marked, for its actions.
//
// # Who owns what
//
// Only this package writes its tables: accounts, threads, messages, broken_messages, labels, wanted_labels, and those of the index. Its
// migrations also create the tables of package gmail (reconciliations, outbound messages, drafts, what was sent before) and of package
// gmailapi (quotas), which refer to accounts.
//
// Gmail is the source of truth and the tables are the copy. A change at Gmail may reach the stored labels late, so actions and
// undos ask Gmail. Two columns belong to the user: the description of a label, and whether a model may choose it.
//
// # Accounts
//
// An account is active, paused by a person ([Store.Pause]), waits for a person to sign in again ([AccountReauthorize]), or is being removed.
// Jobs of an account that is not active wait without being claimed, by the pause of their [LimitKey], and run as soon as [Store.Resume] is
// called. What a person has granted is stored with the account ([Store.SetScopes]).
//
// # Lists and searches
//
// [Store.Search] and [Store.SearchThreads] find stored mail by the language of Gmail's search box, newest first, page by page. A
// message is found only if reading it and comparing it with the query says so. An index chooses the messages to read, the
// candidates: possibly more than match, never fewer.
//
// The index answers one kind of question: in which seconds were messages received that have this term, from that second back? A
// term is a word in a field (sender, recipients, subject, file name, List-ID, Delivered-To, or anywhere), a property such as
// has:attachment, a Message-ID, or a size to the power of two; a label is looked up in the same way. Seconds are in the order of
// the results, so that a query's tree is answered by walking down several such lists at once, and only as far as a page reaches:
//
//	and             the seconds that all nodes have; nodes without an answer are left out
//	or              the seconds that one node has; if one has no answer, there is none
//	not, dates      no answer; dates at the top of the query bound the walk
//	phrase, AROUND  the seconds that all of its words have, or of more than eight the longest
//	label           the seconds of message_labels
//
// A query without an answer (a minus alone, no query) is answered by reading the messages, newest first; the database evaluates
// labels, dates and sizes at its top. If a message is deleted, or stored again with other words, its old index entries stay:
// their seconds lead to nothing, or to a message that is read and not found.
//
// message_terms has the seconds of all terms except labels. Each row has those of one of 512 slots, by the hash of the term, and
// of 2^20 seconds of time: lists of terms and of differences between seconds, of up to about 4 KB, after which another row
// begins. So a word costs two or three bytes for each message that has it; a word in ten years of mail reads a hundred short
// rows; and storing 512 messages writes some 512 rows, where a row for each word of each message would be 80,000.
//
// For that reason messages are indexed together. The transaction that stores a message stores its terms in unindexed_messages, as
// one value. When 512 wait, the next history sync or page of a backfill enqueues index.gmail, which moves them into
// message_terms. Searches read the waiting messages, and then message_terms: a message that is moved in between is seen twice.
// When more than 2,048 wait, as after an upgrade from a version without an index, whose migration lets all stored messages wait,
// words have no answer until the job has indexed them. [Store.IndexMessages] does the same without the job. On PostgreSQL a
// trigger also queues each message that a daemon of such a version stores meanwhile.
//
// message_labels has a row for each label of each message. Triggers on messages keep it exact, because a list of messages that
// were ever unread would not help to find the unread ones.
package mailstore
