// Package mailbox reads the mailboxes that people have on disk: mbox files (plain or gzip, Google Takeout's included),
// maildirs, and folders of .eml files.
//
// Each opener looks at the path first and returns an [*OpenError], which says what was found and what was expected; it
// is written for the person who typed the path. What it returns is a [Source]: an iterator that holds one message at a
// time, however large the mailbox is.
package mailbox
