package mailbox

import "errors"

var (
	// ErrNotMailbox is wrapped by an [OpenError] if the path exists and is not such a mailbox.
	ErrNotMailbox = errors.New("not a mailbox of this kind")

	// ErrCutShort reports that a file ended, or was damaged, before its last message. The messages before it were yielded.
	ErrCutShort = errors.New("the file is cut short")
)

// An OpenError is the reason why a path cannot be read as a mailbox.
type OpenError struct {
	Path string
	What string // what was found there
	Hint string // what to do about it; may be empty
	Err  error  // the cause: fs.ErrNotExist, fs.ErrPermission, ErrNotMailbox or ErrCutShort
}

// Error returns one line for people.
func (e *OpenError) Error() string {
	s := e.Path + " " + e.What
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns the cause.
func (e *OpenError) Unwrap() error { return e.Err }

func notMailbox(path, what, hint string) error {
	return &OpenError{Path: path, What: what, Hint: hint, Err: ErrNotMailbox}
}
