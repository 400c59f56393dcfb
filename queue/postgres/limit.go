package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// holdClaims is jobsql.Store.HoldClaims.
func holdClaims(ctx context.Context, tx *driver.WriteTx) error { return later(ctx, tx, lockClaims) }

// openKeys is jobsql.Store.OpenKeys.
func openKeys(ctx context.Context, tx *driver.WriteTx, target driver.Target) error {
	if err := later(ctx, tx, openHeads, target.Kind == driver.TargetKeyPrefix, target.Name); err != nil {
		return err
	}
	return flush(ctx, tx)
}

// A typeCount is how many jobs of a type run.
type typeCount struct {
	name string
	n    int
}

func scanTypeCount(row jobsql.Scanner) (c typeCount, err error) {
	err = row.Scan(&c.name, &c.n)
	return c, err
}

// readTypeLimits locks the limits of the types that are asked for, and reads them: limits over all machines.
func readTypeLimits(
	ctx context.Context, tx *driver.WriteTx, asked []string, now time.Time,
) (limits joblimit.Types, err error) {
	if err := later(ctx, tx, lockTypeLimits, asked); err != nil {
		return limits, err
	}
	var read []joblimit.Usage
	if err := laterInto(ctx, tx, &read, scanUsage, selectTypeLimits, asked); err != nil {
		return limits, err
	}
	counts, err := query(ctx, tx, scanTypeCount, countRunning)
	if err != nil {
		return limits, err
	}
	running := make(map[string]int, len(counts))
	for _, c := range counts {
		running[c.name] = c.n
	}
	limits.Usages = joblimit.NewUsages(driver.TargetType, now)
	for _, s := range read {
		s.Running = running[s.Name]
		limits.Add(s)
	}
	return limits, nil
}

// spendTypes takes what is claimed off the limits of its types.
func spendTypes(ctx context.Context, tx *driver.WriteTx, limits joblimit.Types, claimed []place) error {
	for i := range claimed {
		limits.Start(claimed[i].jobType, 1)
	}
	return writeArrivals(ctx, tx, limits.Usages)
}

// An examinedKey is a limit key that a claim examines.
type examinedKey struct {
	name  string
	lanes map[string]*lane
	busy  bool            // another claim examines it
	usage *joblimit.Usage // nil until it is read
}

// A lane is the waiting jobs of a key and type in the view of a claim.
type lane struct {
	laneName

	key     *examinedKey
	head    string   // where it is
	at      position // of the head
	open    bool     // the head is
	first   position // no job comes before it
	most    int      // the maximum of jobs to read
	visible int      // so many there are, no more counted than one beyond those to be read
	jobs    []place
	taken   int
}

// examinedKeys are the limit keys that a claim examines.
type examinedKeys struct {
	*joblimit.Usages

	byName  map[string]*examinedKey
	end     *position // jobs after it were not examined
	marks   int
	spent   []string  // the places of the marks to remove
	typed   bool      // types are limited, too
	changed bool      // the next claim will find a different state
	left    bool      // remaining jobs may have capacity, or another claim examines their keys
	again   time.Time // when the first limiting rate permits a start
}

func newExaminedKeys(found []foundRow, now time.Time) *examinedKeys {
	k := &examinedKeys{Usages: joblimit.NewUsages(driver.TargetKey, now), byName: make(map[string]*examinedKey)}
	for i := range found {
		f := &found[i]
		switch f.kind {
		case foundMark:
			k.marks++
			if f.place != "" {
				k.spent = append(k.spent, f.place)
			}
		case foundBusy:
			k.key(f.key).busy = true
		case foundTypes:
			k.typed = true
		case foundEnd:
			k.until(f.at)
		}
	}
	return k
}

func (k *examinedKeys) key(key string) *examinedKey {
	examined := k.byName[key]
	if examined == nil {
		examined = &examinedKey{name: key, lanes: make(map[string]*lane)}
		k.byName[key] = examined
	}
	return examined
}

// until keeps the claim from taking anything after the position.
func (k *examinedKeys) until(at position) {
	if k.end == nil || at.compare(k.end) < 0 {
		k.end = &at
	}
}

// A laneRow is a row of readLanes, or of readLanesPastLocks: a lane and one of its jobs, if it has any.
type laneRow struct {
	head    string // its ctid
	jobType string
	at      position // of the head
	open    bool
	usage   usageRow
	most    int
	nth     int   // of what can be seen of the lane; 0: there is nothing, or it has been seen
	job     place // without a ctid if it is not to be taken
}

// held reports whether another transaction holds a job that was to be taken. It is for rows of readLanes.
func (r *laneRow) held() bool { return r.nth > 0 && r.nth <= r.most && r.job.ctid == "" }

func scanLaneRow(row jobsql.Scanner) (r laneRow, err error) {
	var nth, priority sql.NullInt64
	var at, notBefore jobsql.Instant
	var ctid, id sql.NullString
	dest := append([]any{&r.head, &r.jobType, &r.at.priority, &at, &r.at.id, &r.open}, r.usage.dest()...)
	dest = append(dest, &r.most, &nth, &ctid, &priority, &notBefore, &id)
	err = row.Scan(dest...)
	r.at.notBefore = at.Time
	r.nth = int(nth.Int64)
	r.job = place{ctid: ctid.String, at: position{int(priority.Int64), notBefore.Time, id.String}}
	return r, err
}

// lane returns the lane of a row.
func (l *examinedKey) lane(r *laneRow) *lane {
	of := l.lanes[r.jobType]
	if of == nil {
		of = &lane{laneName: laneName{l.name, r.jobType}, key: l, head: r.head, at: r.at, open: r.open, first: r.at,
			most: r.most}
		l.lanes[r.jobType] = of
	}
	if of.visible = max(of.visible, r.nth); r.nth == 1 {
		of.first = r.job.at
	}
	return of
}

// have takes in what has been read of the lanes, of which a claim may take so many by their types.
func (k *examinedKeys) have(rows []laneRow, capacities map[string]int, limit int) (places []place) {
	for i := range rows {
		r := &rows[i]
		examined := k.key(r.usage.name.String)
		if examined.usage == nil {
			examined.usage = k.Add(r.usage.usage())
		}
		l := examined.lane(r)
		if r.job.ctid != "" {
			r.job.lane, r.job.jobType = l, l.jobType
			l.jobs = append(l.jobs, r.job)
		}
	}
	for _, examined := range k.byName {
		for _, l := range examined.lanes {
			places = append(places, l.jobs...)
			if n := len(l.jobs); n > 0 && n == l.most && n < min(capacities[l.jobType], examined.usage.Left(), limit) {
				k.until(l.jobs[n-1].at) // there may be more of it before what others have next
			}
		}
	}
	return places
}

// settle subtracts the taken jobs, and computes the remaining heads and marks.
func (k *examinedKeys) settle(ctx context.Context, tx *driver.WriteTx) error {
	var again marks
	var fresh heads
	var spentHeads []string
	for _, examined := range k.byName {
		if examined.busy {
			k.left = true
			continue
		}
		for _, l := range examined.lanes {
			k.Start(examined.name, l.taken)
		}
		open := examined.usage.Left() > 0
		left := false
		for _, l := range examined.lanes {
			left = left || l.left()
			if l.stays(open) {
				continue
			}
			spentHeads = append(spentHeads, l.head)
			if l.left() {
				fresh.add(l.laneName, l.first, open)
			}
		}
		k.left = k.left || left && open
		if at := k.Again(examined.usage); left && !at.IsZero() {
			again.add(examined.name, at)
			k.again = joblimit.Earliest(k.again, at)
		}
	}
	k.changed = len(k.spent)+len(spentHeads) > 0
	if len(k.spent) > 0 {
		if err := later(ctx, tx, deleteMarks, k.spent); err != nil {
			return err
		}
	}
	if err := fresh.replace(ctx, tx, spentHeads); err != nil {
		return err
	}
	if err := writeArrivals(ctx, tx, k.Usages); err != nil {
		return err
	}
	return again.writeOnce(ctx, tx)
}

// left reports whether jobs may remain in the lane. It is unknown if none were to be read.
func (l *lane) left() bool { return l.most == 0 || l.visible > l.taken }

// stays reports whether the lane's head still leads to its jobs.
func (l *lane) stays(open bool) bool {
	return l.left() && l.open == open && l.at.compare(&l.first) == 0
}

// usageRow are the columns of usageOfHeads, any of which may be NULL.
type usageRow struct {
	name      sql.NullString
	limit     jobsql.LimitColumns
	arrival   jobsql.Instant
	isRunning sql.NullInt64
}

func (r *usageRow) dest() []any {
	return append(append([]any{&r.name}, r.limit.Dest()...), &r.arrival, &r.isRunning)
}

func (r *usageRow) usage() joblimit.Usage {
	return joblimit.Usage{Name: r.name.String, Limit: r.limit.Limit(), Arrival: r.arrival.Time,
		Running: int(r.isRunning.Int64)}
}

func scanUsage(row jobsql.Scanner) (joblimit.Usage, error) {
	var r usageRow
	err := row.Scan(r.dest()...)
	return r.usage(), err
}

// writeArrivals stores the rates that have moved.
func writeArrivals(ctx context.Context, tx *driver.WriteTx, usages *joblimit.Usages) error {
	moved := usages.Moved()
	if len(moved) == 0 {
		return nil
	}
	names, at := make([]string, len(moved)), make([]time.Time, len(moved))
	for i, s := range moved {
		names[i], at[i] = s.Name, s.Arrival
	}
	return later(ctx, tx, setArrivals, string(usages.Kind()), names, at)
}
