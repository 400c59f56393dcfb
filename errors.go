package postroom

import "errors"

var (
	// ErrMessageGone reports that the provider no longer has the message.
	ErrMessageGone = errors.New("the message no longer exists in the mailbox")
	// ErrNotFound reports that nothing is stored under the id.
	ErrNotFound = errors.New("not found")
)
