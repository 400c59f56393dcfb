// Package naming has an engine's statements name the queue's tables where they are: in a schema, or with a prefix.
//
// The statements are constants, in which [Placeholder] stands before each name. It is a comment of SQL: where the
// tables have their plain names, statements are run as they stand, and nothing is done for it.
package naming

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/postroom-go/postroom/queue/driver"
)

// Placeholder stands before the name of a table, index, trigger or function of the queue's, and before a literal that
// is such a name or that two queues of one database must not share.
const Placeholder = "/*q.*/"

// maxFilled bounds the texts that are kept: some are built at run time.
const maxFilled = 1000

// A Filler fills the placeholder. A nil Filler leaves it, for plain names. It is safe for concurrent use.
type Filler struct {
	names  driver.Names
	filler *strings.Replacer

	mu     sync.RWMutex
	filled map[string]string
}

// plain removes the placeholder.
var plain = newFiller(driver.Names{})

// New returns nil for plain names.
func New(names driver.Names) *Filler {
	if names == (driver.Names{}) {
		return nil
	}
	return newFiller(names)
}

func newFiller(names driver.Names) *Filler {
	return &Filler{
		names:  names,
		filler: strings.NewReplacer(Placeholder+"'", "'"+Literal(names, ""), Placeholder, names.Table("")),
		filled: make(map[string]string),
	}
}

// Literal returns the name as it stands in a literal.
func Literal(names driver.Names, name string) string {
	if names.Schema != "" {
		return names.Schema + "." + name
	}
	return names.Prefix + name
}

// Names are those of the Filler.
func (f *Filler) Names() driver.Names {
	if f == nil {
		return driver.Names{}
	}
	return f.names
}

// Fill returns the text with its placeholders filled.
func (f *Filler) Fill(text string) string {
	if f == nil {
		return text
	}
	f.mu.RLock()
	filled, ok := f.filled[text]
	f.mu.RUnlock()
	if ok {
		return filled
	}
	if !strings.Contains(text, Placeholder) { // a program's, of which there may be any number
		return text
	}
	filled = f.filler.Replace(text)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.filled) < maxFilled {
		f.filled[text] = filled
	}
	return filled
}

// Whole is Fill that also removes the placeholders of plain names: the text may be run by another queue's transaction,
// which would fill them with its own.
func (f *Filler) Whole(text string) string {
	if f == nil {
		return plain.filler.Replace(text)
	}
	return f.Fill(text)
}

// Tx returns the program's transaction as one that fills the statements of the driver.
func (f *Filler) Tx(tx driver.Tx) driver.Tx {
	if f == nil {
		return tx
	}
	return Named{tx, f}
}

// Of returns the transaction of a queue as one of a queue with the names of f, if that of their tables is another.
// theirs are the names of the transaction.
func (f *Filler) Of(w *driver.WriteTx, theirs *Filler) *driver.WriteTx {
	if f.Names() == theirs.Names() {
		return w
	}
	if f == nil {
		f = plain
	}
	return driver.NewAdoptedTx(Named{w, f}, w.Dialect(), w.Now())
}

// A Named is a transaction whose statements are filled.
type Named struct {
	driver.Tx
	*Filler
}

// Given is for txlock.
func (n Named) Given() driver.Tx { return n.Tx }

// ExecContext implements [driver.Tx].
func (n Named) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return n.Tx.ExecContext(ctx, n.Fill(query), args...)
}

// QueryContext implements [driver.Tx].
func (n Named) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return n.Tx.QueryContext(ctx, n.Fill(query), args...)
}

// QueryRowContext implements [driver.Tx].
func (n Named) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return n.Tx.QueryRowContext(ctx, n.Fill(query), args...)
}

// A Querier reads.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Reader returns a Querier that fills statements.
func (f *Filler) Reader(q Querier) Querier { return reader{q, f} }

type reader struct {
	Querier
	*Filler
}

func (r reader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return r.Querier.QueryContext(ctx, r.Fill(query), args...)
}

// The longest schema leaves room for the name of a channel, and the longest prefix that of an index, in the 63 bytes
// that PostgreSQL keeps of a name.
const (
	maxSchema = 48
	maxPrefix = 32
)

var identifier = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// CheckSchema returns an error for what is no name of a schema; field is where it stands.
func CheckSchema(field, schema string) error {
	switch {
	case schema == "":
		return nil
	case strings.HasPrefix(schema, "pg_"), schema == "information_schema",
		schema == "plpgsql": // which keeps the settings that begin with its name to itself
		return fmt.Errorf("%s is %q, which is PostgreSQL's own: name a schema that CREATE SCHEMA has made", field, schema)
	}
	return check(field, schema, maxSchema)
}

// CheckPrefix returns an error for what no name of a table begins with; field is where it stands.
func CheckPrefix(field, prefix string) error {
	switch {
	case prefix == "":
		return nil
	case strings.HasPrefix(prefix, "sqlite_"):
		return fmt.Errorf("%s is %q, and SQLite keeps names that begin with sqlite_ for itself", field, prefix)
	}
	return check(field, prefix, maxPrefix)
}

func check(field, name string, most int) error {
	if !identifier.MatchString(name) {
		return fmt.Errorf("%s is %q; it must be of lower-case letters, digits and underscores, and not begin with a digit",
			field, name)
	}
	if len(name) > most {
		return fmt.Errorf("%s is %q, of %d bytes; it must have at most %d", field, name, len(name), most)
	}
	return nil
}
