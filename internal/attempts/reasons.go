package attempts

// The reasons of actions that nobody carries out any more, for people.
const (
	// JobEnded is the reason of an action whose job was canceled, or was interrupted or has crashed too often.
	JobEnded = "its job ended before it did"
	// MailboxRemoved is the reason of an action whose account was removed.
	MailboxRemoved = "the mailbox was removed"
)
