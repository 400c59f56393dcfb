// Package undo undoes actions: it restores what the action changed, and nothing else.
//
// # Images
//
// A completed action records two images of its message: the labels before its first attempt, and the labels as the action
// left them. An undo is their difference, label by label, applied to the message as it is now. There is no table of inverse
// actions: undoing the archive of a message that was not in the inbox adds nothing, because the archive changed nothing.
//
// Changes since the action, by the user or another program, are kept and reported. That holds for
// labels, and for the place of a message: its labels INBOX, SPAM and TRASH stand for one thing, so the undo of an archive
// does not restore a message that has been moved to the trash since. See [Report].
//
// # One way
//
// [Undoer.Request] is the one way to request an undo, for a command line, a page and a program alike: it refuses what cannot
// be undone before it writes anything, and enqueues the [JobAction]. [Undoer.Plan] shows beforehand what the job would do,
// [Undoer.Report] afterwards what it has done.
//
// # The job
//
// Its handler begins by recording the undo in the ledger as an action of its own, undo_<type>, which belongs to the job and
// is linked to the original. The link is unique among those that have not failed: of two jobs the second learns so. Then:
//
//   - the message's image is read, as a durable step of the job;
//   - the plan made from it is applied at the provider;
//   - the undo's completion, its report, our copy of the message's labels and the job's completion are one transaction. If
//     the action had scheduled a job (a snooze its end), that is canceled with it.
//
// # When something fails
//
// A crash before the step: nothing has happened. A crash after it, before or after the call to the provider, in whole or in
// part: the next attempt keeps the first image, so that it does not take its own work for the user's, reads the message
// again, and does what remains. An error is retried as the queue decides; when it is the last, or the message is gone, the
// undo has failed, with the reason, and may be asked for again. If the job ends without its handler (canceled, or crashed
// too often), the undo stays executing until the next job finds that its owner is finished, and gives it up.
//
// An undo cannot be undone; the original action can be recorded anew.
package undo
