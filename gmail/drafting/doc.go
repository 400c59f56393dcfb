// Package drafting writes the answers that mail needs as drafts at Gmail, and makes labels the buttons for it.
//
//	Service   has the handlers of the jobs of package replies, and hears what happens in a mailbox
//	Writer    writes a text, given the thread: a model, a template or a test
//	Labels    are the names of the labels
//
// [New] makes a [Service]. [Service.Register] registers its handlers. A host passes [Service.LabelsChanged] and
// [Service.Deleted], and [Service.Acted] with FollowUp, to package gmail, calls [Service.Arrived] for each new message,
// [Service.Needed] for one that seems
// to need an answer, and enqueues [NewCheckJob] now and then. Package replies keeps the states, package outbox makes
// and updates the drafts.
//
// # The labels
//
//	Needs Response    asks for a draft (manual_draft); taken off before the draft is made, it skips the need
//	                  put on by this package where [Service.Needed] begins no more drafts on a day
//	Outbox            put on by this package: a draft lies ready
//	Rework            asks for another text (rework); taken off before that is made, it withdraws the wish
//	Done              archives the thread and clears the labels (cleanup)
//	Action Required   put on by this package: a person has to write
//	Waiting           a person waits for an answer; see below
//
// A label that asks for what there is, or for another text where there is none, is taken off.
//
// A label counts if it came onto a message after the account was added: by a person, by a filter or by another program.
// Gmail puts the label of a conversation onto each message, with a change of the history for each. They are one press
// of the button: the table reply_buttons records that the button is pressed until the job has done its work, and to
// which change of the history the work has taken note. A change of before that is late, and its label is taken off. The
// button is released before the label is taken off at Gmail, so that this package does not take its own change for a
// person's. A Rework label that a person puts on while this package takes the last one off is found in the history.
//
// # Waiting for an answer
//
// With [Config].FollowUp, a [JobFollowUp] for a later time follows when the label Waiting is put on: by a person, by an
// action that [Service.Acted] hears of, such as that of a rule, and with [Config].FollowUpSent by this package when the
// person has answered. A message of
// another that arrives ends the waiting, but for an automatic answer, and so do Done and a person who takes the label
// off: the job does nothing then. If the person writes in the thread meanwhile, the time begins anew. When it has
// passed, the newest message of the thread gets the label Action Required and is back in the inbox, by actions that
// [Config].Record records, and Waiting is taken off. The row of the button in reply_buttons is the whole state: the
// job belongs to the press that the row has, so that a thread comes back once.
//
// With [Config].FollowUpDraft the draft of a reminder takes the place of Action Required if the last message is the
// person's. It is the draft of a reply as others are, but for the message that it answers: one that the person has
// sent, which is how it is told from others. A message is reminded of once, since a message begins one need. The answer
// of another ends it: by the check of its draft, which the arrival enqueues, or at once where the answer needs a draft
// itself.
//
// # A draft is made once
//
// A text is stored before it is written to Gmail, with a hash of the draft that it makes, and belongs to one turn of
// the reply. So a writer whose process dies afterwards is not asked again, and the draft is made by its key.
//
// # A person's edit
//
// A draft whose recipients, subject, texts and files are not those of a text of ours was touched by a person. It is
// never overwritten, but for the label Rework. The draft is read again just before it is overwritten: one that has
// changed since the writer was asked is given to the writer again. Gmail offers no way to close the last few
// milliseconds.
//
// With the label Rework a person may leave an instruction in the draft: above a line that is [Config].Marker, or just
// above the text, if that was left as it was. What stands below the marker is the text to work on, with the person's
// changes. Recipients and files that the person has added stay; the sentence "reply all" in the instruction adds whom
// the message went to, and nothing that a [Writer] or a stranger writes does. Both versions stay in the table
// reply_texts until the reply has ended.
//
// A person may say elsewhere than in Gmail what is to be done: [Service.Ask] has a draft written, [Service.Rework] has
// it written again by an instruction, [Service.Discard] ends the need, and [Service.Send] sends the draft as the person
// has seen it.
//
// No draft is sent but by Send. One is deleted only if it is as this package has written it: by Discard, and by the
// job of [NewCheckJob] if the person has answered without it, if others have answered what it reminds of, or 14 days
// after it was written. The key of the draft, its hash and its labels at Gmail are looked at just before.
package drafting
