// Package lessons keeps what people correct by hand in a mailbox, and the rules that package learn finds in it.
//
//	Store         records corrections, learns, and keeps the learned rules
//	Correction    what was proposed and what was final, one row for each time
//	Drift         a rule, or the models, that people correct too often
//	Rule          a learned rule, its state, and what taught it
//	JobLearn      learns; schedule it once a week
//
// It knows neither Gmail nor the ledger: a host calls [Store.LabelsChanged], [Store.Answered], [Store.Undone] and
// others, each in the transaction in which it sees what a person does. Package gmail/pipeline does so.
//
// # What counts
//
// The vote of a message follows from its corrections, in their order. A label that is given, a message that is put
// away unread, a star, an approval and an act in place of a rejected one say what is right; a label that is taken
// off, a move back into the inbox, a rejection and an undo say that the message was to stay as it was, unless the
// person has said what is right. Mail that is read first and then archived says nothing. Mail of the same domains and
// lists that was read, and left in the inbox for 14 days, says that it was to stay there, if it was received after the
// oldest such mail that the person has sorted.
//
// Only a person's acts count. Of more than 20 within 60 seconds nobody knows whose they are, and they do not count
// until a person has said so, by [Store.CountBulk]. A sync may see many acts of a day at once: they are asked about as
// well.
//
// # Drift
//
// Each correction of a rule's action, or of a model's, has the last 20 messages counted on which it has acted. With two
// of them corrected it warns, with three it asks: [Store.Asks] returns why a person is to be asked about its
// decisions, until a person says by [Store.RightAgain] that it is right, or the rule is changed. What was done before
// does not count then. Corrections in bulk count only once a person has said so: what the first twenty of them had
// made warn or ask is counted anew without them when the next one comes, and again with them after a person's yes.
//
// # The states of a learned rule
//
//	        found                 Accept
//	(none) ───────▶ proposed ────────────────────▶ accepted
//	   │             │     ▲                       ▲    │
//	   │ high, with  │     │ twice the support     │    │ Withdraw, or
//	   │ Apply       │     │                       │    │ removed from the rules
//	   ▼             ▼     │   Dismiss             │    ▼
//	shadow ──────────────▶ dismissed ◀──────────────────┘
//	   └───────────────── a week and 10 matches ───┘
//
// At most five rules of an account are proposed within a week, whatever the answers; the others wait. A rule that waits
// and is proven no more is deleted, or dismissed anew if it was dismissed before. A rule that was dismissed once is
// never in shadow. A rule that would decide about nothing, because others decide before it, is not proposed.
package lessons
