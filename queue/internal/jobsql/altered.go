package jobsql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/queue/driver"
)

// BeforeLast is the number before [driver.LastAttempt], as SQL writes it.
const BeforeLast = "2147483646"

// The tables that do not move, as far as their rows are checked.
var unmoved = map[driver.Table]table{
	"job_schedules": {keys: 1, columns: slices.Concat(of(text, "name", "payload_json", "options_json"),
		of(instant, "next_at", "last_at", "created_at", "updated_at"))},
	"job_workers": {keys: 1, columns: slices.Concat(of(text, "id"), of(number, "beat"), of(instant, "beat_at"),
		of(optional, "types_json", "version"))},
}

// altered are the invariants that a person breaks who writes an invalid value into a column: it is read as an empty
// one.
func altered(dialect driver.Dialect) (rules []rule) {
	for _, all := range []map[driver.Table]table{tables, unmoved} {
		for name, t := range all {
			if query := t.alteredIn(name, dialect); query != "" {
				rules = append(rules, rule{"what stands in a column of " + string(name) + " can be read", query})
			}
		}
	}
	slices.SortFunc(rules, func(a, b rule) int { return strings.Compare(a.text, b.text) })
	return rules
}

// alteredIn selects the keys of the rows with invalid values, and the first such column.
func (t *table) alteredIn(name driver.Table, dialect driver.Dialect) string {
	var broken, which []string
	for _, c := range t.columns {
		if condition := c.unreadable(dialect); condition != "" {
			broken = append(broken, condition)
			which = append(which, "WHEN "+condition+" THEN '"+c.name+"'")
		}
	}
	if len(broken) == 0 {
		return ""
	}
	return "SELECT " + strings.Join(t.names()[:t.keys], " || ' ' || ") + " || ': ' || CASE\n    " +
		strings.Join(which, "\n    ") +
		"\n  END\nFROM /*q.*/" + string(name) + "\nWHERE " + strings.Join(broken, "\n  OR ")
}

// unreadable is the condition for an invalid value in the column; empty if every value is valid.
func (c *column) unreadable(dialect driver.Dialect) string {
	list := slices.Contains([]string{"tags_json", "types_json"}, c.name)
	var condition string
	switch sqlite := dialect == driver.SQLite; {
	case list && sqlite:
		condition = `CASE
      WHEN NOT json_valid(%[1]s) THEN TRUE
      WHEN json_type(%[1]s) <> 'array' THEN TRUE
      ELSE EXISTS (SELECT 1 FROM json_each(%[1]s) WHERE type <> 'text')
    END`
	case list:
		condition = `CASE
      WHEN json_typeof(%[1]s::json) <> 'array' THEN TRUE
      ELSE EXISTS (SELECT 1 FROM json_array_elements(%[1]s::json) AS e (v) WHERE json_typeof(v) <> 'string')
    END`
	case c.kind == instant && sqlite:
		condition = `(%[1]s NOT GLOB '` + instantShape +
			`' OR strftime('%%Y-%%m-%%dT%%H:%%M:%%S', substr(%[1]s, 1, 19)) IS NOT substr(%[1]s, 1, 19))`
	case c.kind == instant:
		condition = `(NOT isfinite(%[1]s) OR %[1]s < '0001-01-01 00:00:00Z' OR %[1]s >= '10000-01-01 00:00:00Z')`
	case c.kind == number && sqlite:
		condition = `typeof(%[1]s) <> 'integer'`
	case strings.HasSuffix(c.name, "_json") && sqlite:
		condition = `(typeof(%[1]s) = 'blob' OR NOT json_valid(%[1]s))`
	case (c.kind == text || c.kind == optional) && sqlite:
		condition = `typeof(%[1]s) = 'blob'`
	default:
		return ""
	}
	return fmt.Sprintf("(%[1]s IS NOT NULL AND "+condition+")", c.name)
}

var instantShape = strings.NewReplacer("0", "[0-9]").Replace("0000-00-00T00:00:00.000000Z")
