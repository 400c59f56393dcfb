// Package statistics keeps what is counted of mailboxes over years: mail by sender and by category, how sure a category
// or a decision was, what people did, how often rules and models were corrected, and how long mail and people took.
//
//	err := statistics.Migrate(ctx, db) // after the packages whose tables it reads
//	store, err := statistics.New(statistics.Config{DB: db})
//	err = store.Register(dispatcher)
//	err = q.SetSchedule(ctx, statistics.Schedule())
//	result, err := store.Read(ctx, statistics.Filter{Accounts: ids, Dimension: statistics.Category})
//
// # How it stays exact
//
// Triggers on the tables of packages mailstore, safety, llm/enrich and rules/lessons write a row into statistics_marks
// in the transaction that changes something that is counted: the account, and the day in UTC that it counts for. Rows
// are only added there, so that no writer waits for another. So nothing is missed, whoever writes, and a package that
// is counted knows nothing of this one. [Job] reads the marks, counts the marked days anew, and writes what differs,
// with the months and the years that the days belong to, in one transaction that deletes exactly the marks it has read.
// What is changed meanwhile has marked its day again.
//
// Two that count one account at once do not undo each other's work: each writes only if nobody has since it read the
// marks, by statistics_accounts.rev. A job that dies at any instruction leaves the marks of what it has not written.
//
// [Migrate] creates the triggers that are missing, also those that a later migration of another package has dropped
// with its table, and then has all days counted anew.
//
// # What is counted
//
// What the database has. A message counts for the day on which it was received, an action for the day on which it
// ended, what a person did for the day on which it was done. Mail that was deleted counts no more, nor do categories
// and corrections whose records were pruned.
package statistics
