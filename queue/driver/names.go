package driver

// Names are where a database has the queue's tables, if not under their plain names.
type Names struct {
	Schema string // of PostgreSQL
	Prefix string // of each name, on SQLite
}

// Table returns the name of one of the queue's tables as SQL writes it.
func (n Names) Table(name string) string {
	if n.Schema != "" {
		return `"` + n.Schema + `".` + name
	}
	return n.Prefix + name
}

// A Namer is a [Driver] whose tables may be in a schema, or have a prefix.
type Namer interface{ Names() Names }

// NamesOf returns the names of the driver's tables: plain ones if it is no [Namer].
func NamesOf(d Driver) Names {
	if n, ok := As[Namer](d); ok {
		return n.Names()
	}
	return Names{}
}
