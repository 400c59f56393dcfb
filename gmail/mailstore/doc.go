// Package mailstore keeps the mail of Gmail accounts in a database: accounts, threads, messages and labels.
//
// [Migrate] creates the tables, [New] makes a [Store] of a database that package queue/sqlite or queue/postgres has
// opened. The jobs of package gmail fill it. A host reads it, and changes what belongs to people: which accounts
// there are ([Store.EnsureAccount]), whether their jobs run ([Store.Pause], [Store.Resume]), and what a label is for
// ([Store.DescribeLabel]).
//
// # Types
//
//	Store     accounts, threads, messages, labels, broken messages, and searches in them: for hosts and jobs
//	Progress  the cursor, the backfill and the watch of an account, as the jobs of package gmail move them on
//	Copies    the labels of messages, and whether Gmail still has them, as the jobs follow Gmail
//
// Reading methods see committed data. Writing methods take the caller's transaction, so that a job's writes, the jobs
// that follow and its completion are one.
//
// # The way of a message
//
// Gmail's bytes and what Gmail says about them are one message ([NewMessage]), made before a transaction begins, as
// are the terms by which searches find it ([mailindex.Terms]). The transaction stores the message and its thread,
// keyed by the account and Gmail's ids, and lets the terms wait for the index ([Copies.Save], [Store.SaveMessage]).
// Rows have a permanent id of their own. An answer of Gmail's that is no message is kept as it came ([Store.Broken]).
// A message that is deleted at Gmail stays, marked, for its actions.
//
// # Who owns what
//
// Only this package writes its tables: accounts, threads, messages, broken_messages, labels, and wanted_labels. Its
// migrations also create the tables of package gmail (reconciliations), of outbox (outbound messages, drafts, what
// was sent before), of mailindex, and of gmailapi (quotas), which refer to accounts.
//
// Gmail is the source of truth and the tables are the copy. A change at Gmail may reach the stored labels late, so
// actions and undos ask Gmail. Two columns belong to the user: the description of a label, and whether a model may
// choose it.
//
// # Accounts
//
// An account is active, paused by a person ([Store.Pause]), waits for a person to sign in again
// ([AccountReauthorize]), or is being removed. Jobs of an account that is not active wait without being claimed, by
// the pause of their [LimitKey], and run as soon as [Store.Resume] is called. What a person has granted is stored
// with the account ([Store.SetScopes]).
//
// # Lists and searches
//
// [Store.Search] and [Store.SearchThreads] find stored mail by the language of Gmail's search box, newest first, page
// by page; package mailindex finds it, and keeps its index beside the messages ([Store.Index]).
package mailstore
