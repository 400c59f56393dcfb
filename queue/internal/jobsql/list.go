package jobsql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

type statement struct {
	text    strings.Builder
	dialect driver.Dialect
	args    []any
}

// ListJobs lists whole jobs, newest first.
func ListJobs(dialect driver.Dialect, f driver.Filter) (query string, args []any) {
	s := &statement{dialect: dialect}
	if s.byState(f) {
		s.add("SELECT " + Columns + "\nFROM /*q.*/jobs\nWHERE id IN (\n")
		s.ids(f)
		s.add(")\nORDER BY id DESC\nLIMIT ")
		s.arg(f.Limit)
	} else {
		s.page(Columns, f, "")
	}
	return s.text.String(), s.args
}

const (
	// newestWalked is how many of the newest jobs a listing by state or type looks through before it reads all jobs of
	// that state and type, since no index has them in the order of their ids.
	newestWalked = "2000"
	// manyListed is how many jobs of a state and type SQLite reads in an index rather than the newest jobs themselves:
	// there the state comes after the payload.
	manyListed = "10000"
)

// listNewest lists those of the newest jobs that match a filter by state or type, newest first. On SQLite it lists
// nothing where few jobs are of the states and types.
func listNewest(dialect driver.Dialect, f driver.Filter) (query string, args []any) {
	s := &statement{dialect: dialect}
	s.add("SELECT " + Columns + "\nFROM /*q.*/jobs\nWHERE id IN (\nSELECT id\nFROM (\n")
	s.add("SELECT id, type, state, created_at, tags_json\nFROM /*q.*/jobs")
	s.where(driver.Filter{Before: f.Before}, "")
	s.add("\nORDER BY id DESC\nLIMIT ")
	if dialect == driver.SQLite {
		s.add("CASE (\nSELECT COUNT(*)\nFROM (\n")
		s.each(f, func(_ driver.State, standing string) {
			s.add("SELECT 1\nFROM /*q.*/jobs")
			s.where(driver.Filter{Types: f.Types}, standing)
		})
		s.add("\nLIMIT " + manyListed + ")) WHEN " + manyListed + " THEN " + newestWalked + " ELSE 0 END")
	} else {
		s.add(newestWalked)
	}
	s.add(") AS newest")
	f.Before = ""
	s.where(f, "")
	s.add("\nORDER BY id DESC\nLIMIT ")
	s.arg(f.Limit)
	s.add(")\nORDER BY id DESC")
	return s.text.String(), s.args
}

// ListJobIDs lists the ids of jobs, newest first.
func ListJobIDs(dialect driver.Dialect, f driver.Filter) (query string, args []any) {
	s := &statement{dialect: dialect}
	if s.byState(f) {
		s.ids(f)
	} else {
		s.page("id", f, "")
	}
	return s.text.String(), s.args
}

// CountJobs counts jobs by state.
func CountJobs(dialect driver.Dialect, f driver.Filter) (query string, args []any) {
	s := &statement{dialect: dialect}
	if len(f.States) == 0 && !selective(f) {
		f.States = driver.States()
	}
	if !s.byState(f) {
		s.add("SELECT state, COUNT(*)\nFROM /*q.*/jobs")
		s.where(f, "")
		s.add("\nGROUP BY state")
		return s.text.String(), s.args
	}
	s.add("SELECT state, CAST(SUM(n) AS BIGINT)\nFROM (\n")
	s.each(f, func(state driver.State, standing string) {
		s.add(fmt.Sprintf("SELECT '%s' AS state, COUNT(*) AS n\nFROM /*q.*/jobs", state))
		s.where(withoutState(f), standing)
	})
	s.add(") AS counts\nGROUP BY state\nHAVING SUM(n) > 0")
	return s.text.String(), s.args
}

// selective reports whether an index other than those of states supports the filter. Tags are searched among all jobs
// that have any, unless there is a better index.
func selective(f driver.Filter) bool {
	return f.UserID != "" || f.Key != "" || f.LimitKey != "" || (len(f.Tags) > 0 && len(f.States)+len(f.Types) == 0)
}

// byState reports whether to search each state separately. A search by type only covers all states at once. SQLite
// would read the jobs with tags again for each state.
func (s *statement) byState(f driver.Filter) bool {
	tagged := s.dialect == driver.SQLite && len(f.Tags) > 0
	return !selective(f) && !tagged && len(f.States)+len(f.Types) > 0
}

// each writes the result of fn for each standing.
func (s *statement) each(f driver.Filter, fn func(state driver.State, standing string)) {
	states := f.States
	if len(states) == 0 {
		states = driver.States()
	}
	first := true
	// A repeated state has its jobs once.
	for _, state := range slices.Compact(slices.Sorted(slices.Values(states))) {
		for _, at := range driver.Standings() {
			if at.State != state {
				continue
			}
			if !first {
				s.add("\nUNION ALL\n")
			}
			first = false
			fn(state, condition(at))
		}
	}
}

func withoutState(f driver.Filter) driver.Filter {
	f.States = nil
	return f
}

// ids writes the first of each standing, and of those the first.
func (s *statement) ids(f driver.Filter) {
	n := 0
	s.add("SELECT id\nFROM (\n")
	s.each(f, func(_ driver.State, standing string) {
		n++
		s.add("SELECT id\nFROM (\n")
		s.page("id", withoutState(f), standing)
		s.add(fmt.Sprintf(") AS standing%d", n))
	})
	s.add(") AS standings\nORDER BY id DESC\nLIMIT ")
	s.arg(f.Limit)
}

func (s *statement) page(columns string, f driver.Filter, standing string) {
	s.add("SELECT " + columns + "\nFROM /*q.*/jobs")
	s.where(f, standing)
	s.add("\nORDER BY " + s.id(standing) + " DESC\nLIMIT ")
	s.arg(f.Limit)
}

// id keeps SQLite, which knows nothing of how many jobs stand where, from going through the whole table in the order of
// ids in search of the few of one standing.
func (s *statement) id(standing string) string {
	if standing != "" && s.dialect == driver.SQLite {
		return "+id"
	}
	return "id"
}

func (s *statement) add(text string) { _, _ = s.text.WriteString(text) } // a Builder takes all

func (s *statement) arg(v any) {
	s.args = append(s.args, v)
	s.add("$" + strconv.Itoa(len(s.args)))
}

// list writes the values in parentheses.
func (s *statement) list(values []any) {
	s.add("(")
	for i, v := range values {
		if i > 0 {
			s.add(", ")
		}
		s.arg(argument(v))
	}
	s.add(")")
}

// where writes the conditions that the filter has; the standing, unless empty, comes first.
func (s *statement) where(f driver.Filter, standing string) {
	next := "\nWHERE "
	condition := func(text string, v any, after string) {
		s.add(next + text)
		s.arg(v)
		s.add(after)
		next = "\n  AND "
	}
	if standing != "" {
		s.add(next + standing)
		next = "\n  AND "
	}
	for _, c := range []struct{ column, value string }{
		{"user_id = ", f.UserID}, {"idempotency_key = ", f.Key}, {"limit_key IS NOT NULL\n  AND limit_key || '' = ",
			f.LimitKey},
		{s.id(standing) + " < ", f.Before},
	} {
		if c.value != "" {
			condition(c.column, c.value, "")
		}
	}
	states := make([]string, len(f.States))
	for i, state := range f.States {
		states[i] = string(state)
	}
	next = s.in(next, "state", states)
	next = s.in(next, "type", f.Types)
	if !f.CreatedFrom.IsZero() {
		condition("created_at >= ", dbtime.Of(f.CreatedFrom), "")
	}
	if !f.CreatedBefore.IsZero() {
		condition("created_at < ", dbtime.Of(f.CreatedBefore), "")
	}
	if len(f.Tags) > 0 {
		s.add(next + "tags_json IS NOT NULL")
		next = "\n  AND "
	}
	for _, tag := range f.Tags {
		if s.dialect == driver.Postgres {
			condition("tags_json::jsonb @> to_jsonb(", tag, "::text)")
		} else {
			condition(
				"EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(tags_json) THEN tags_json ELSE '[]' END) WHERE value = ",
				tag, ")")
		}
	}
}

func (s *statement) in(next, column string, values []string) string {
	if len(values) == 0 {
		return next
	}
	s.add(next + column + " IN (")
	for i, v := range values {
		if i > 0 {
			s.add(", ")
		}
		s.arg(v)
	}
	s.add(")")
	return "\n  AND "
}
