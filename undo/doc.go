// Package undo undoes actions: it restores what the action changed, and nothing else.
//
// # Layers
//
// A completed action records its own change, and two images of its message: the labels before its first attempt, and the labels
// as the action left them. From the images of all actions of a message follows its history, layer by layer: the labels that it
// came with, the change of each action, and in between what people or other programs have changed. To undo an action is to
// leave its layer out: each label is then as the last of the other layers has set it. There is no table of inverse actions,
// undoing the archive of a message that was not in the inbox adds nothing, and actions can be undone in any order, or all at
// once: what is left is what people's changes and the remaining actions have made of the message.
//
// Changes by others are kept and reported, see [Report]. That holds for labels, and for the place of a message: its labels
// INBOX, SPAM and TRASH stand for one thing, so the undo of an archive does not restore a message that has been moved to the
// trash since.
//
// What nobody can see is not known: a person who takes a star off and puts it back between two actions has changed nothing;
// and a person who makes the very change of an action while its answer is lost is taken for the action.
//
// # One way
//
// [Undoer.Request] is the one way to request an undo, for a command line, a page and a program alike: it refuses what cannot
// be undone before it writes anything, puts on record in the ledger who has requested it ([Undoer.As]), and enqueues the [JobAction], which
// undoes nothing that is not on record so. [Undoer.Plan] shows beforehand what the job would do,
// [Undoer.Report] afterwards what it has done. [Undoer.RequestAll] requests the undo of all actions that a filter selects;
// [Undoer.PlanAll] and [Undoer.ReportAll] say the same of each of them, and why one cannot be undone: see [Result].
//
// An undo is undone like any other action, which puts the layer back. Then the action can be undone again.
//
// # The job
//
// Its handler begins by recording the undo in the ledger as an action of its own, undo_<type>, which belongs to the job and
// is linked to the original. The link is unique among those that count: of two jobs the second learns so. One action of a
// message executes at a time; while it does, the undo is put off, which spends no attempt. Then:
//
//   - the message's image is read, as a durable step of the job;
//   - the plan made from it is applied at the provider;
//   - the undo's completion, its report, our copy of the message's labels and the job's completion are one transaction. If
//     the action had scheduled a job (a snooze its end), that is canceled with it; the undo of the undo enqueues it again
//     before it changes anything, unless its time has passed ([ErrTooLate]).
//
// An action that the host has carried out by a Handler is undone by the Undo of its kind (see [postroom.Kind]), in the same job
// and transaction. That undo cannot be undone.
//
// # When something fails
//
// A crash before the step: nothing has happened. A crash after it, before or after the call to the provider, in whole or in
// part: the next attempt keeps the first image, so that it does not take its own work for the user's, reads the message
// again, and does what remains. An error is retried for hours; when it is the last, or the message is gone, the
// undo has failed, with the reason, and may be asked for again. If the job ends without its handler (canceled, or crashed
// too often), the undo stays executing until the next job of the message finds that its owner is finished, and gives it up.
package undo
