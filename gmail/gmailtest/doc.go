// Package gmailtest is a Gmail server for tests and demonstrations. It listens on a loopback port and speaks the
// HTTP and JSON of the Gmail API, so that the real client (google.golang.org/api/gmail/v1) talks to it and not a mock.
// [NewServer] starts one for a test, [Open] for anything else.
//
// It has labels, threads, history with gaps in its ids, pagination, quota, and Gmail's error bodies. With [Config].Dir its
// state is a file that survives the death of the process at any moment; without, it is in memory.
//
// [Server.Import] copies the messages of a mailbox on disk, in a way that can be interrupted and repeated: each message
// gets an id that follows from the mailbox and the message, and comes in once.
//
// # Faults
//
// [Server.Fault] scripts what goes wrong: a status with Google's reason, an answer that is lost after its change took
// effect, a call that hangs until the test says so. [Server.Calls] returns the calls and their cost.
//
// # What is different from Gmail
//
// Trashing a message takes INBOX off it as well. Searches know only a few operators and refuse the others, see
// [MessagesList]. The media endpoints under /upload, partial responses (fields), drafts, settings and push are not there.
// History is kept until [Server.ForgetHistory].
package gmailtest
