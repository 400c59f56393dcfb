// Package undo undoes actions: it restores what the action changed, and nothing else.
//
// # Layers
//
// A completed action records its own change, and two snapshots of its message: the labels before its first attempt, and
// the labels after the action. The snapshots of all actions of a message give its history, layer by layer: the labels
// that it came with, the change of each action, and in between the changes of people or other programs. To undo an
// action is to omit its layer: each label is then as the last of the other layers has set it. There is no table of
// inverse actions. Undoing the archive of a message that was not in the inbox adds nothing. Actions can be undone in
// any order, or all at once: the result is what people's changes and the remaining actions have made of the message.
//
// An action that ends by itself, as a snooze does, has a second layer, its end. The ledger records what a wake-up has
// found and changed ([postroom.WakeUp]), so the undo of a snooze that is over takes back what its wake-up has done,
// such as putting an archived message into the inbox, and nothing that people have done. A wake-up ends all snoozes
// before it, and stays until the last of them is undone.
//
// Changes by others are kept and reported, see [Report]. That holds for labels, and for the place of a message: its
// labels INBOX, SPAM and TRASH stand for one thing, so the undo of an archive does not restore a message that has
// been moved to the trash since.
//
// The place is where the last move of a person has put the message, as the snapshots show it: a message that a person
// has taken out of the trash stays where that has left it, whichever actions are undone, in any order. That is also so
// if it lies in the archive only because of an action before: the person has seen it there and has not moved it on.
//
// Changes that no snapshot shows are unknown. If a person throws an archived message away and takes it out of the trash
// again between two snapshots, nothing has moved, and the undo of the archive moves it into the inbox. If a person
// removes a star and sets it again between two actions, nothing has changed. If a person makes the same change as an
// action while the answer to the action is lost, the change is attributed to the action.
//
// # Requests
//
// All undos are requested with [Undoer.Request], by a command line, a page or a program. It refuses an action that
// cannot be undone before it writes anything, records in the ledger who has requested the undo ([Undoer.As]), and
// enqueues the [JobAction]. The job undoes nothing without that record. [Undoer.Plan] returns beforehand what the job
// would do, [Undoer.Report] afterwards what it has done. [Undoer.RequestAll] requests the undo of all actions that a
// filter selects; [Undoer.PlanAll] and [Undoer.ReportAll] return the same for each of them, and why one cannot be
// undone: see [Result].
//
// An undo is undone like any other action, which restores the layer. Then the action can be undone again.
//
// # The job
//
// Its handler first records the undo in the ledger as an action of its own, undo_<type>, which belongs to the job and
// is linked to the original. The link is unique among those that count: the second of two jobs gets an error. One
// action of a message executes at a time; while it does, the undo is deferred, which spends no attempt. Then:
//
//   - the message's snapshot is read, as a durable step of the job;
//   - the plan made from it is applied at the provider;
//   - the undo's completion, its report, the stored copy of the message's labels and the job's completion are one
//     transaction. If the action had scheduled a job (such as the end of a snooze), that is canceled with it, and
//     jobs of earlier actions that were put off for it are due; the undo of the undo enqueues it again before it
//     changes anything, unless its time has passed ([ErrTooLate]).
//
// An action that the host has carried out by a Handler is undone by the Undo of its kind (see [postroom.Kind]), in
// the same job and transaction. That undo cannot be undone.
//
// # Failures
//
// After a crash before the step, nothing has happened. After a crash later, whether the call to the provider has
// taken effect or not, the next attempt keeps the first snapshot, so that it does not take its own change for the
// user's, reads the message again, and makes the remaining changes. An error is retried for hours. When the last
// attempt fails, or the message is gone, the undo has failed, with the reason, and can be requested again. If the job
// ends without its handler (canceled, or crashed too often), the undo stays executing until the next job of the
// message finds that its owner is finished, and gives it up. An undo does the same for an action whose job has ended;
// if the Mailbox is an [Ender], it finds out before whether the action has sent a message.
package undo
