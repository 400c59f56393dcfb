// Package gmailtest is a Gmail server for tests and demonstrations. It listens on a loopback port and serves the
// Gmail API over HTTP, so that tests use the real client (google.golang.org/api/gmail/v1) and not a mock. [NewServer]
// starts a server for a test, [Open] for any other use.
//
// Three lines are enough:
//
//	server := gmailtest.NewServer(t)
//	letter, err := server.Deliver(t.Context(), []byte("From: ann@example.com\r\nSubject: Tea?\r\n\r\nAt five.\r\n"))
//	service, err := server.Service(t.Context()) // or any client of Gmail, with server.URL() and a token
//
// [Server.Account] adds more mailboxes. Mail from one to another is delivered.
//
// The server has labels, threads, history with gaps in its ids, pagination, quota, and Gmail's error bodies. With
// [Config].Dir its state is a file that survives a crash of the process at any moment; otherwise it is in memory.
//
// [Server.Import] copies the messages of a mailbox on disk. It can be interrupted and repeated: the id of a message
// is derived from the mailbox and the message, and each message is imported once.
//
// # Signing in
//
// The server has the endpoints of OAuth 2.0 ([Server.OAuthEndpoint]): a consent page on which a person chooses a
// mailbox and may untick scopes, PKCE, refresh, expiry and revocation. [Account.Grant] returns a token without a
// browser. A token can call only the methods of its scopes. [Config.OAuth] has the options; by default any token that
// does not look like one of Google's is the owner's.
//
// # Watching
//
// A watch publishes changes: to the targets of [Server.PushTo] by HTTP with a signed token, and to [Config.Publish].
// [Server.FaultPushes] loses, duplicates and delays notifications. Undelivered notifications do not survive the
// process. [Server.Issuer] and [Server.KeysURL] are what a program that verifies the tokens needs.
//
// # People
//
// [Server.Person] reads, sorts and deletes mail while the programs under test run. A [Clock] replaces waiting, and
// [Server.Save] copies a prepared mailbox.
//
// # Faults
//
// [Server.Fault] scripts failures: a status with Google's reason, a response that is lost after its change took
// effect, a call that hangs until the test releases it. [Server.Calls] returns the calls and their cost.
//
// # Packages
//
// This package is the mailbox and its API. Package oauth grants access to it, package pubsub publishes its changes,
// package faults has the failures that a test scripts; the types of these that a test names are here under the same
// names. Package mailbox reads and writes mailboxes on disk, and package sample is one.
//
// # Differences from Gmail
//
// Trashing a message also removes INBOX from it. Mail to an address without an account here is dropped and does not
// bounce. The only spam is the test text of spam filters (GTUBE). Resumable uploads end with the server. Ids of
// attachments stay the same. History is kept until [Server.ForgetHistory]. A method that is not implemented answers
// 501 with its name; docs/gmailtest.md lists all methods and the operators of searches.
package gmailtest
