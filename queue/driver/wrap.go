package driver

// An Unwrapper is a [Driver] that wraps another one, as a test does that counts claims, or a program that measures them.
//
// To embed a Driver hides the optional interfaces of the one that is embedded, so the queue would do without them: more slowly,
// and without the tools of package queueadmin. With Unwrap they are found. The queue then calls the wrapped driver past the
// wrapper, so a wrapper that does something of its own in a method of the left column also implements the interface on the
// right, to do it there as well:
//
//	Insert              GroupInserter
//	LockLease, Finish   Fencer
//	Claim, Finish       FinishClaimer
//	Write               WriteChecker, GroupInserter
type Unwrapper interface {
	// Unwrap returns the wrapped driver.
	Unwrap() Driver
}

// As returns the first of d, the driver that it wraps, the one that this wraps, and so on, that is a T. It is how each optional
// interface is looked for.
func As[T any](d Driver) (found T, ok bool) {
	for d != nil {
		if found, ok = d.(T); ok {
			return found, true
		}
		wrapper, wraps := d.(Unwrapper)
		if !wraps {
			break
		}
		d = wrapper.Unwrap()
	}
	return found, false
}
