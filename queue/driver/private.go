package driver

// A Private is a [Driver] whose database may be out of reach for all other processes, as one in memory is. Nothing happens there
// without this process, so a dispatcher with nothing to do looks the less often the longer that lasts: a day in which nothing
// happens costs little under testing/synctest.
type Private interface {
	// Private reports whether no other process can reach the database.
	Private() bool
}

// IsPrivate reports whether the database is that of a [Private] which says so.
func IsPrivate(d Driver) bool {
	private, ok := As[Private](d)
	return ok && private.Private()
}
