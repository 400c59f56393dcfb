package maildb

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// NotDeleted is "m.deleted_at IS NULL" for the few messages that have certain ids or a thread. A PostgreSQL without
// statistics (ANALYZE) would scan a whole partial index of messages that are not deleted, and it does not recognize
// this form as the condition of such an index.
const NotDeleted = `CASE WHEN m.deleted_at IS NULL THEN 1 ELSE 0 END = 1`

// A Filter is conditions of a statement and their arguments.
type Filter struct {
	conditions []string
	Args       []any
}

// Clone returns a copy that can be added to.
func (f *Filter) Clone() Filter {
	return Filter{slices.Clone(f.conditions), slices.Clone(f.Args)}
}

// Arg adds an argument and returns its place.
func (f *Filter) Arg(value any) string {
	f.Args = append(f.Args, value)
	return fmt.Sprintf("$%d", len(f.Args))
}

// Add adds a condition; each %s of it is one argument.
func (f *Filter) Add(condition string, args ...any) {
	at := make([]any, len(args))
	for i, a := range args {
		at[i] = f.Arg(a)
	}
	f.conditions = append(f.conditions, fmt.Sprintf(condition, at...))
}

// Where returns the conditions as a clause.
func (f *Filter) Where() string { return "\nWHERE " + strings.Join(f.conditions, "\n  AND ") }

// AddLabel asks for messages with one of the labels, or without it. REPLACE finds a text alike on both engines:
// exactly. PostgreSQL takes an expression to be equal to another one for one row in 200, and to differ for all
// others. It must expect most messages not to have the label, or it would read all of a large mailbox, and sort it,
// for a page; hence the CASE.
func (f *Filter) AddLabel(has bool, ids ...string) {
	var one []string
	for _, id := range ids {
		quoted, _ := json.Marshal(id) //nolint:errchkjson // a text
		one = append(one, "REPLACE(CAST(m.labels_json AS TEXT), "+f.Arg(string(quoted))+
			", '') <> CAST(m.labels_json AS TEXT)")
	}
	condition := "FALSE"
	if len(one) > 0 {
		condition = "(" + strings.Join(one, " OR ") + ")"
	}
	if !has {
		condition = "CASE WHEN " + condition + " THEN 1 ELSE 0 END <> 1"
	}
	f.conditions = append(f.conditions, condition)
}
