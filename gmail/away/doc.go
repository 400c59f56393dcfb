// Package away answers mail while its owner is away: a responder that is safe without anybody who looks.
//
//	s, err := away.New(away.Config{Store: store, Clients: clients, Correspondents: senders.Correspondents{Store: store}})
//	a, err := s.Set(ctx, tx, away.Absence{AccountID: id, Until: friday, Text: "Back on {{until}}.", SetBy: "ada"})
//
// Package gmail/pipeline has a [Service], asks it about each new message, and gives its decisions to the ledger.
//
// # What is answered
//
// A message is answered if it was received while the absence was on, after it was switched on; if Gmail has verified
// its one sender; if an address of the mailbox is in To or Cc; and if none of these holds:
//
//   - a program has sent it, or it went to many: [mime.Header.Automatic], a field of a list, a notice of a mail server,
//     or one of Gmail's categories but the primary one;
//   - it is spam, in the trash, a draft, or from an address of the mailbox itself;
//   - it asks for answers to somebody else than its sender;
//   - the sender has been answered in this absence, or within its [Absence].Days;
//   - the audience is [Known], and the owner has never written to the sender;
//   - a rule of the owner answers it, or throws it away.
//
// Beyond [Config].PerDay answers within 24 hours a mailbox answers nobody: who owns a domain has any number of
// addresses.
//
// # How it is sent
//
// An answer is an action auto_reply, beside what rules and models decide about the message. To the ledger an absence
// is a rule of the owner ([Service.StoredRule]) that needs no approval: the owner has said it. So the stop, a dry
// run, caps, breakers and the age of what is sent about hold for it as for any rule, and the action is on record.
// Package gmail/outbox sends it once, in the thread, marked as automatic (RFC 3834).
//
// The row that says that the sender was answered is written in the transaction that records the decision, if no newer
// row of the sender is there: of a thousand messages that are decided about at once, one is answered. Just before the
// answer is sent, [Service.Confirm] looks again at the message, as Gmail has it, and whether the absence is still on;
// otherwise the action is canceled. Nobody is asked, since nobody is there. An action that ends without having sent
// anything gives the turn of its sender back ([Ended]). One that waits for a person, such as beyond a cap, and whose
// request has expired is canceled when its sender writes again ([Config].CancelExpired).
//
// Why a message that came in the absence was not answered is recorded in the same transaction ([Unanswered]).
//
// An absence ends by its date, without a job, or by [Service.End]. What waits then, also for a person or with the
// approval of one, is not sent.
package away
