// Package usage tells faults of what a person asked for from those of what was tried.
package usage

import "fmt"

// An Error is a fault of what was asked for, such as of an argument or a setting, and not of its execution.
type Error struct{ err error }

// Error is the text of the fault.
func (e Error) Error() string { return e.err.Error() }

// Unwrap returns the fault.
func (e Error) Unwrap() error { return e.err }

// Errorf makes a fault of a text, as [fmt.Errorf] does.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }

// Wrap makes an error a fault of what was asked for.
func Wrap(err error) error { return Error{err} }
