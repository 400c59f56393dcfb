// Package appointments puts the appointments that mail names where a program for calendars finds them: as files
// (RFC 5545) in a folder, or attached to a draft that is addressed to the owner. It knows no calendar server, and sends
// nothing.
//
//	keeper, err := appointments.New(appointments.Config{Queue: q, Folder: "/home/ada/calendar", Find: find})
//	err = keeper.Register(dispatcher)
//	// in the transaction that records what was found in a message, or that a person has changed that:
//	err = keeper.Follow(ctx, tx, accountID, messageID)
//
// # One job for each message
//
// [Keeper.Follow] enqueues a [Job], which asks [Config].Find what the message names by then. Requests that come while
// one waits are one job. Nothing new is kept of an appointment that is over.
//
// In a folder each appointment has a file, which is named by its day and title. If it changes, its file is written
// again, under another name if the day or the title has changed, and if it stands no longer, its file is removed: as
// long as the file is as it was written. A file that a person has edited, moved or deleted is never written again, and
// never removed; a changed appointment gets a new file beside it. A file that is in the way of a new one stays as it
// is, and the new one gets a few digits after its name.
//
// A draft is made once for each message, has a file for each appointment, and is never changed after that: it is the
// owner's.
//
// # Crashes
//
// What is to be written is stored as a step of the job before it is written, and where it was written in the
// transaction that ends the job. An attempt after a crash finds the bytes that it wants in place and takes them for its
// own. What the message names by then is asked after that, since requests that came while the job waited were one with
// it. A request that comes while a process dies, between the writing of a file and the end of its job, makes another
// job, which takes the place of the first and does not know that file: it stays as if a person had put it there. The
// key of a draft is that of its message; see [outbox.Drafts].
//
// # Hostile mail
//
// Titles are a stranger's words. Files are opened as package notes opens them: no name and no symbolic link leads out
// of the folder. Subjects of drafts and names of their files are one line without control characters.
package appointments
