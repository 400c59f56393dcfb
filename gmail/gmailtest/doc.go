// Package gmailtest is a Gmail server for tests and demonstrations. It listens on a loopback port and speaks the
// HTTP and JSON of the Gmail API, so that the real client (google.golang.org/api/gmail/v1) talks to it and not a mock.
// [NewServer] starts one for a test, [Open] for anything else.
//
// Three lines are enough:
//
//	server := gmailtest.NewServer(t)
//	letter, err := server.Deliver(t.Context(), []byte("From: ann@example.com\r\nSubject: Tea?\r\n\r\nAt five.\r\n"))
//	service, err := server.Service(t.Context()) // or any client of Gmail, with server.URL() and a token
//
// [Server.Account] adds more mailboxes; what one sends to another arrives.
//
// It has labels, threads, history with gaps in its ids, pagination, quota, and Gmail's error bodies. With [Config].Dir its
// state is a file that survives the death of the process at any moment; without, it is in memory.
//
// [Server.Import] copies the messages of a mailbox on disk, in a way that can be interrupted and repeated: each message
// gets an id that follows from the mailbox and the message, and comes in once.
//
// # Signing in
//
// The endpoints of OAuth 2.0 are there ([Server.OAuthEndpoint]): a page on which a person chooses a mailbox and may untick
// scopes, PKCE, refresh, expiry and revocation. [Account.Grant] returns a token without a browser. Methods are refused to tokens
// without their scope. [Config.OAuth] has the rest; by default any token that does not look like one of Google's is the owner's.
//
// # Watching
//
// A watch publishes changes: to the programs of [Server.PushTo] by HTTP with a signed token, and to [Config.Publish].
// [Server.FaultPushes] loses, doubles and holds notifications on their way. They are not kept over the death of the process.
//
// # People
//
// [Server.Person] reads, sorts and deletes mail beside the programs under test. A [Clock] is moved in place of waiting, and
// [Server.Save] copies a prepared mailbox.
//
// # Faults
//
// [Server.Fault] scripts what goes wrong: a status with Google's reason, an answer that is lost after its change took
// effect, a call that hangs until the test says so. [Server.Calls] returns the calls and their cost.
//
// # What is different from Gmail
//
// Trashing a message takes INBOX off it as well. Mail to addresses that have no account here goes nowhere, and does not bounce. The only
// spam is the test text of spam filters (GTUBE). Resumable uploads end with the server. Ids of attachments stay the same. History is kept until
// [Server.ForgetHistory]. A method that is not implemented answers 501 with its name; docs/gmailtest.md lists all methods and the operators
// of searches.
package gmailtest
