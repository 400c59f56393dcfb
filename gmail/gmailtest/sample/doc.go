// Package sample is a sample mailbox: newsletters, receipts, threads, invitations, bounces, mailing lists, old
// charsets, attachments, and harmful mail. All persons, companies and addresses in it are invented. The mail is dated
// 2026.
//
// The messages are files in the folder messages, unchanged byte for byte. index.go has the time and the labels of each.
package sample
