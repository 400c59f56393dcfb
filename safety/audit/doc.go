// Package audit keeps a log of what is decided, permitted and done: one chain of entries, to which is only added.
//
// The hash of an entry is over the entry and the hash of the one before, so nobody can alter, remove or insert an
// entry without altering the hashes of all later ones. Who can write to the database can write another chain.
// Somebody who has kept the [Head] of an earlier day elsewhere sees that: [Log.Verify] reports a head that the chain
// no longer has.
//
// An entry names a row, such as an action, and how often the row had been written, and has a hash of its columns.
// Package safety adds an entry in the transaction that writes the row, and [Log.Verify] compares the rows with the
// log. A transaction on PostgreSQL adds its entries at its end, one transaction after the other.
package audit
