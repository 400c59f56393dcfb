// Package outbox sends the messages of actions, forwards and replies, each once, and makes drafts.
//
//	Outbox      composes the message of an action and fixes its bytes: what a person approves is what is sent
//	Delivery    sends it, or finds out whether an earlier attempt has; the job of package gmail uses it
//	Refusals    what would not be sent, for the ledger that records a decision
//	SentRecord  what a mailbox has sent, also before its account was removed and came back
//	Drafts      drafts of the host's own, which a program or a person sends
//
// [New] makes an [Outbox] for the Config of package gmail, which registers the handler of the [JobSend] jobs. [Kinds]
// are the kinds of actions that send. The tables are those of package mailstore's migrations.
//
// # What is sent
//
// An [Outbox] composes the message of an action, and fixes its bytes before the first attempt to send and before a
// person is asked: [Outbox.Preview] returns them; the hash of the bytes and the thread is recorded with the action
// ([postroom.Action.ContentSHA256]); and the job sends these bytes or none. They have no date; Gmail adds the date of
// sending. Files of a forward stay at Gmail until the bytes are built. A person who is asked may edit the subject and
// the text ([Outbox.Edit]): the rest of the message stays, its new hash is recorded with the action, and a person is
// asked about that.
//
// Only what the ledger has signed is sent, whatever the tables of this package say. A message is composed from an
// action that the ledger verifies ([Ledger.Verified]) and from the original as Gmail has it. Its hash is signed in the
// transaction that stores it, and a stored message is sent only if its bytes have that hash. A message that is stored
// while the action has no hash was written by something else, and is replaced. The payload of a job names the action,
// and nothing else in it counts.
//
// A reply goes to Reply-To, or to From if there is none. It comes from the address that the original was sent to, and
// has the fields that Gmail and the recipient need to put it into the thread. A forward begins a new thread. Bcc is
// never disclosed. Every message carries Auto-Submitted and X-Loop, a reply also Precedence, so that other programs do
// not answer it (RFC 3834). A forward carries on those of the original.
//
// # What is refused
//
// These messages are refused, with the reason on record, and [gmailapi.ClassRefused] to the caller:
//
//   - a reply to mail that a program sent, or that went to many ([mime.Header.Automatic]); to spam; to the mailbox
//     itself; to an address that nobody reads; to a Reply-To at another domain, unless a parameter names it;
//   - a forward of a notice about mail, back to the sender, to the mailbox itself, or of mail that the mailbox has
//     forwarded before; to a mailbox that has sent the mail on already, or after five such mailboxes (X-Loop);
//   - a reply to a recipient who has received one within [Config].ReplyInterval;
//   - a message that the mailbox has sent, or may have sent, before its account was removed, unless a person has
//     approved it;
//   - a message with too many recipients, with too many bytes, or with invalid addresses.
//
// A message to a recipient who has received [Config].RecipientsDay messages in a day is not refused: it waits for its
// [Turn], which is that of its decision, and its action does not start. If that would take longer than [MostWait], a
// person is asked. A message is counted in the transaction in which its action starts ([Outbox.Reserve]).
//
// [Refusals] tells a ledger what of this is known when the action is decided, so that no person is asked about a
// message that would not be sent; the job looks again.
//
// # Sent once
//
// A message is sent once. Its Message-ID is chosen when it is composed, and each attempt to send is declared: before
// Gmail is asked, the ledger signs with the action the mailbox, the Message-ID and the position in the history from
// which a later attempt looks ([Ledger.DeclareIntent]). If the outcome of an attempt is unknown (no answer, a server
// error, the death of the process), a [Delivery] looks for the message by its Message-ID, in Gmail's search and in the
// history since before the attempt. It sends again only if neither has the message after the time that Gmail may take
// ([Config].Settle). Looking spends no attempts of the job. A message that was sent is never marked as failed, unless
// its action was altered since, or the message was permanently deleted before it was found: if sent mail is gone from
// the mailbox, the message may have been part of it. Then nothing is sent again; the action fails, and its reason asks
// a person to find out.
//
// The longer the outcome is unknown, the less often the job looks: for more than a year, with the queue's default
// budget. If the job ends without its handler (canceled, or interrupted or crashed too often), the action stays
// executing until the next job of the message, which looks for it in the same way ([Delivery.End]), sends nothing, and
// ends it as completed or failed.
//
// # What was sent before
//
// The record of what was sent belongs to the mailbox, not to the id of an account. When an account is removed,
// [SentRecord.Keep] keeps hashes of what the account had sent, about which of Gmail's messages, to whom and when. If
// the mailbox comes back, as another account, an action that would send the same is refused unless a person has
// approved it, and the limits of its recipients continue. [SentRecord.SentBefore] informs a ledger earlier, so that it
// cancels such an action or asks about it; [SentRecord.Forget] deletes the hashes. A send that a removal has
// interrupted counts as possibly made. The hashes are not pruned: old mail is sorted as new with the rest.
//
// The counts of messages to each recipient, and the record of what was sent before about a message, are not signed.
// Deleting them resets the limits, for actions that are otherwise permitted.
//
// # Drafts
//
// [Drafts] makes drafts, one for each key of the host's, sends and deletes them, and finds out what a person has done
// with them, by the same means: the Message-ID and the position in the history are stored before Gmail is asked. A
// draft that answers a message and was sent, by the program or by a person, is a reply to it: rules do not send
// another one to the same recipients. It counts for the recipients for whom it was made, even if a person has sent it
// to others, and not for the limits of recipients. A removed account leaves hashes of it as well. Drafts are not
// signed.
package outbox
