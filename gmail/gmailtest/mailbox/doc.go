// Package mailbox reads mailboxes on disk: mbox files (plain or gzip, including Google Takeout's), maildirs, and
// folders of .eml files.
//
// Each opener checks the path first. It returns a [Source], an iterator that holds one message at a time, however
// large the mailbox is. Its error is an [*OpenError] for the person who typed the path: it describes what was found
// and what was expected.
package mailbox
