package driver

// A Private is a [Driver] whose database may be unreachable for all other processes, such as one in memory. Nothing
// happens there without this process, so an idle dispatcher polls less and less often: an idle day costs little under
// testing/synctest.
type Private interface {
	// Private reports whether no other process can reach the database.
	Private() bool
}

// IsPrivate reports whether the driver is a [Private] that returns true.
func IsPrivate(d Driver) bool {
	private, ok := As[Private](d)
	return ok && private.Private()
}
