package driver

// An Unwrapper is a [Driver] that wraps another one, for example to count or to measure claims.
//
// Embedding a Driver hides the optional interfaces of the embedded one, so the queue would work without them: more
// slowly, and without the tools of package queueadmin. Unwrap makes them visible. The queue then calls the wrapped
// driver directly, bypassing the wrapper. So a wrapper with its own version of a method in the left column must also
// implement the interface on the right:
//
//	Insert              GroupInserter
//	LockLease, Finish   Fencer
//	Claim, Finish       FinishClaimer
//	Write               WriteChecker, GroupInserter
type Unwrapper interface {
	// Unwrap returns the wrapped driver.
	Unwrap() Driver
}

// As returns the first T among d, the driver that it wraps, the one that this wraps, and so on. The queue looks up each
// optional interface with it.
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
