package maildb

import (
	"fmt"
	"slices"
	"strings"
)

// Bulk is the number of rows of one statement.
const Bulk = 500

// Values returns the places of rows: "($1, $2), ($3, $4)".
func Values(rows, columns int) string {
	var b strings.Builder
	for row := range rows {
		if row > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Places(row*columns+1, columns))
	}
	return b.String()
}

// Places returns the places of n arguments from the first on: "($3, $4)".
func Places(first, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(map[bool]string{true: "(", false: ", "}[i == 0])
		fmt.Fprintf(&b, "$%d", first+i)
	}
	b.WriteString(")")
	return b.String()
}

// Unique returns the ids in order, each once.
func Unique(ids []string) []string { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// Args are the arguments of a query about ids of an account.
func Args(accountID string, ids []string) []any {
	args := []any{accountID}
	for _, id := range ids {
		args = append(args, id)
	}
	return args
}
