package statistics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
)

// A Filter selects what [Store.Read] adds up.
type Filter struct {
	// Accounts are the ids of the accounts. Nothing is read without one.
	Accounts []string
	// Dimension is what is read. Required.
	Dimension Dimension
	// From and To are the first day, in UTC, and the one after the last. The zero time is without a bound.
	From, To time.Time
	// Limit is how many groups are returned, those with the most first. Default 0: all.
	Limit int
}

// A Group is what was counted of one name and outcome.
type Group struct {
	Name    string
	Outcome string // empty where the dimension has none
	N       int64
	Total   int64         // see [Dimension]; 0 where it has none
	Bins    map[int]int64 // how many of N are in each bin
}

// MeanConfidence is the mean of the confidences of a group of [Category] or [Model], from 0 to 1.
func (g *Group) MeanConfidence() float64 {
	if g.N == 0 {
		return 0
	}
	return float64(g.Total) / float64(g.N) / 1e6
}

// Within returns a time that the share of a group of [ActionTime] or [AnswerTime] took at most, such as 0.95: it is
// the upper end of a bin, and so up to a fifth too long.
func (g *Group) Within(share float64) time.Duration {
	bins, seen := make([]int, 0, len(g.Bins)), int64(0)
	for bin := range g.Bins {
		bins = append(bins, bin)
	}
	slices.Sort(bins)
	for _, bin := range bins {
		if seen += g.Bins[bin]; float64(seen) >= share*float64(g.N) {
			return TimeOf(bin)
		}
	}
	return 0
}

// A Result is what was counted.
type Result struct {
	Groups []Group // those with the most first
	N      int64   // of all groups, also of those beyond the limit
}

// Read adds up what was counted. It reads the days, months and years of the time once, however many messages there are.
func (s *Store) Read(ctx context.Context, f Filter) (r Result, err error) {
	if !slices.Contains(Dimensions, f.Dimension) {
		return r, fmt.Errorf("statistics: Read: the dimension is %q; give one of %q", f.Dimension, Dimensions)
	}
	if f.Limit < 0 {
		return r, errors.New("statistics: Read: the limit is negative; give 0 for all groups")
	}
	parts := partsOf(f.From, f.To)
	if len(f.Accounts) == 0 || len(parts) == 0 {
		return r, nil
	}
	var rows []struct {
		Name    string `db:"name"`
		Outcome string `db:"outcome"`
		Bin     int    `db:"bin"`
		sum
	}
	from, args := fromParts(f, parts)
	err = dbquery.Select(ctx, s.db.Reader(), &rows, sumOf(f)+from+groupsOf(f), args...)
	if err == nil && isLimited(f) {
		err = dbquery.Get(ctx, s.db.Reader(), &r.N, sqlSumAll+from, args...)
	}
	if err != nil {
		return r, fmt.Errorf("statistics: read: %w", err)
	}
	at := map[[2]string]int{}
	for _, row := range rows {
		if !isLimited(f) {
			r.N += row.N
		}
		key := [2]string{row.Name, row.Outcome}
		i, known := at[key]
		if !known {
			i, at[key] = len(r.Groups), len(r.Groups)
			r.Groups = append(r.Groups, Group{Name: row.Name, Outcome: row.Outcome, Bins: map[int]int64{}})
		}
		g := &r.Groups[i]
		g.N, g.Total, g.Bins[row.Bin] = g.N+row.N, g.Total+row.Total, row.N
	}
	slices.SortFunc(r.Groups, compareGroups)
	if f.Limit > 0 && len(r.Groups) > f.Limit {
		r.Groups = r.Groups[:f.Limit]
	}
	return r, nil
}

func compareGroups(a, b Group) int {
	if a.N != b.N {
		return int(min(1, max(-1, b.N-a.N)))
	}
	return strings.Compare(a.Name+"\x00"+a.Outcome, b.Name+"\x00"+b.Outcome)
}

// A part is a time whose sums are stored: days, months or years, from the first one to before the last.
type part struct{ span, from, to string }

// unbounded sorts after all days.
const unbounded = "~"

// partsOf divides the time from a day to another into whole years, whole months, and days.
func partsOf(from, to time.Time) (parts []part) {
	add := func(span, from, to string) {
		if from < to {
			parts = append(parts, part{span, from, to})
		}
	}
	first, end := "", unbounded
	if !from.IsZero() {
		first = from.UTC().Format(time.DateOnly)
	}
	if !to.IsZero() {
		end = to.UTC().Format(time.DateOnly)
	}
	years, yearsEnd := next(first, "01-01"), begun(end, "01-01")
	months, monthsEnd := next(first, "01"), begun(end, "01")
	switch {
	case years < yearsEnd:
		add("day", first, months)
		add("month", months, years)
		add("year", years, yearsEnd)
		add("month", yearsEnd, monthsEnd)
		add("day", monthsEnd, end)
	case months < monthsEnd:
		add("day", first, months)
		add("month", months, monthsEnd)
		add("day", monthsEnd, end)
	default:
		add("day", first, end)
	}
	return parts
}

// next is the day itself, or the first one after it, that begins a month, or a year.
func next(of, begins string) string {
	if of == "" || strings.HasSuffix(of, "-"+begins) {
		return of
	}
	at, err := time.Parse(time.DateOnly, of)
	if err != nil {
		return unbounded // beyond the last year
	}
	month := time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	if begins != "01" {
		month = time.Date(at.Year()+1, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if month.Year() > 9999 {
		return unbounded
	}
	return month.Format(time.DateOnly)
}

// begun is the first day of the month, or of the year, that a day is in.
func begun(of, begins string) string {
	if of == unbounded || len(of) != len(time.DateOnly) {
		return of
	}
	return of[:len(of)-len(begins)] + begins
}

// isLimited reports whether the groups of a filter are limited in the database, where each has one row there.
func isLimited(f Filter) bool { return f.Dimension == Sender && f.Limit > 0 }

// sumOf is what is read of the parts. SQLite groups by one column in half the time of three.
func sumOf(f Filter) string {
	if f.Dimension == Sender {
		return `
SELECT name, '' AS outcome, 0 AS bin, CAST(SUM(n) AS BIGINT) AS n, 0 AS total`
	}
	return `
SELECT name, outcome, bin, CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(total) AS BIGINT) AS total`
}

const sqlSumAll = `
SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT)`

func groupsOf(f Filter) string {
	switch {
	case isLimited(f):
		return fmt.Sprintf("\nGROUP BY name\nORDER BY SUM(n) DESC, name\nLIMIT %d", f.Limit)
	case f.Dimension == Sender:
		return "\nGROUP BY name"
	}
	return "\nGROUP BY name, outcome, bin"
}

// fromParts are the rows of a filter. Each part is read by the primary key.
func fromParts(f Filter, parts []part) (from string, args []any) {
	arg := func(value any) string {
		args = append(args, value)
		return fmt.Sprintf("$%d", len(args))
	}
	accounts := make([]string, len(f.Accounts))
	for i, id := range f.Accounts {
		accounts[i] = arg(id)
	}
	dimension := arg(string(f.Dimension))
	selects := make([]string, len(parts))
	for i, p := range parts {
		selects[i] = fmt.Sprintf(`
  SELECT name, outcome, bin, n, total
  FROM statistics
  WHERE account_id IN (%s) AND dimension = %s AND span = %s AND day >= %s AND day < %s`,
			strings.Join(accounts, ", "), dimension, arg(p.span), arg(p.from), arg(p.to))
	}
	return "\nFROM (" + strings.Join(selects, "\n  UNION ALL") + "\n) AS parts", args
}

// A Progress says how far accounts are counted.
type Progress struct {
	// Days is how many days were changed since they were counted; a whole account that is to be counted is one. After an
	// import it may be more: of the changes, the oldest 20,000 are looked at, and an account without one counts as one
	// while there are more.
	Days int
	// CountedAt is when something was last counted; zero if nothing was.
	CountedAt time.Time
}

// mostMarks bounds the marks that are read to tell how far it is counted.
const mostMarks = 20_000

// Progress returns how far accounts are counted.
func (s *Store) Progress(ctx context.Context, accounts ...string) (p Progress, err error) {
	revs, err := s.revs(ctx)
	if err != nil {
		return p, fmt.Errorf("statistics: %w", err)
	}
	for _, id := range accounts {
		if at := revs[id].CountedAt.Time; at.After(p.CountedAt) {
			p.CountedAt = at
		}
		var marked struct {
			Days  int `db:"days"`
			Marks int `db:"marks"`
		}
		if err := dbquery.Get(ctx, s.db.Reader(), &marked, sqlMarkedDays, id, mostMarks); err != nil {
			return p, fmt.Errorf("statistics: read the marks: %w", err)
		}
		if marked.Marks == mostMarks {
			marked.Days = max(marked.Days, 1)
		}
		p.Days += marked.Days
	}
	return p, nil
}
