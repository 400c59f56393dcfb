// Package sample is a sample mailbox: newsletters, receipts, threads, invitations, bounces, mailing lists, old
// charsets, attachments, and what people should be protected from. All persons, companies and addresses in it are
// invented; the mail is dated 2026.
//
// The messages are files below messages, kept byte for byte; index.go says when each came and which labels it has.
package sample
