package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// A keyLook is a limit key that a claim examines.
type keyLook struct {
	name     string
	lanes    map[string]*lane
	busy     bool               // another claim examines it
	standing *joblimit.Standing // nil until it is read
}

// A lane is the waiting jobs of a key and type in the view of a claim.
type lane struct {
	laneName

	key     *keyLook
	front   string   // where it is
	at      position // of the front
	open    bool     // the front is
	first   position // no job comes before it
	most    int      // the maximum of jobs to read
	visible int      // so many there are, no more counted than one beyond those to be read
	jobs    []place
	taken   int
}

// keyLooks are the limit keys that a claim examines.
type keyLooks struct {
	*joblimit.Standings

	byName  map[string]*keyLook
	end     *position // jobs after it were not examined
	marks   int
	spent   []string  // the places of the marks to remove
	typed   bool      // types are limited, too
	changed bool      // the next claim will find a different state
	left    bool      // remaining jobs may have capacity, or another claim examines their keys
	again   time.Time // when the first limiting rate permits a start
}

func newKeyLooks(found []foundRow, now time.Time) *keyLooks {
	k := &keyLooks{Standings: joblimit.NewStandings(driver.TargetKey, now), byName: make(map[string]*keyLook)}
	for i := range found {
		f := &found[i]
		switch f.kind {
		case foundMark:
			k.marks++
			if f.place != "" {
				k.spent = append(k.spent, f.place)
			}
		case foundBusy:
			k.look(f.key).busy = true
		case foundTypes:
			k.typed = true
		case foundEnd:
			k.until(f.at)
		}
	}
	return k
}

func (k *keyLooks) look(key string) *keyLook {
	look := k.byName[key]
	if look == nil {
		look = &keyLook{name: key, lanes: make(map[string]*lane)}
		k.byName[key] = look
	}
	return look
}

// until keeps the claim from taking anything after the position.
func (k *keyLooks) until(at position) {
	if k.end == nil || at.compare(k.end) < 0 {
		k.end = &at
	}
}

// A laneRow is a row of readLanes, or of readLanesPastLocks: a lane and one of its jobs, if it has any.
type laneRow struct {
	front    string // its ctid
	jobType  string
	at       position // of the front
	open     bool
	standing standingRow
	most     int
	nth      int   // of what can be seen of the lane; 0: there is nothing, or it has been seen
	job      place // without a ctid if it is not to be taken
}

// held reports whether another transaction holds a job that was to be taken. It is for rows of readLanes.
func (r *laneRow) held() bool { return r.nth > 0 && r.nth <= r.most && r.job.ctid == "" }

func scanLaneRow(row jobsql.Scanner) (r laneRow, err error) {
	var nth, priority sql.NullInt64
	var at, notBefore jobsql.Instant
	var ctid, id sql.NullString
	dest := append([]any{&r.front, &r.jobType, &r.at.priority, &at, &r.at.id, &r.open}, r.standing.dest()...)
	dest = append(dest, &r.most, &nth, &ctid, &priority, &notBefore, &id)
	err = row.Scan(dest...)
	r.at.notBefore = at.Time
	r.nth = int(nth.Int64)
	r.job = place{ctid: ctid.String, at: position{int(priority.Int64), notBefore.Time, id.String}}
	return r, err
}

// lane returns the lane of a row.
func (l *keyLook) lane(r *laneRow) *lane {
	of := l.lanes[r.jobType]
	if of == nil {
		of = &lane{laneName: laneName{l.name, r.jobType}, key: l, front: r.front, at: r.at, open: r.open, first: r.at, most: r.most}
		l.lanes[r.jobType] = of
	}
	if of.visible = max(of.visible, r.nth); r.nth == 1 {
		of.first = r.job.at
	}
	return of
}

// have takes in what has been read of the lanes, of which a claim may take so many by their types.
func (k *keyLooks) have(rows []laneRow, capacities map[string]int, limit int) (places []place) {
	for i := range rows {
		r := &rows[i]
		look := k.look(r.standing.name.String)
		if look.standing == nil {
			look.standing = k.Add(r.standing.standing())
		}
		l := look.lane(r)
		if r.job.ctid != "" {
			r.job.lane, r.job.jobType = l, l.jobType
			l.jobs = append(l.jobs, r.job)
		}
	}
	for _, look := range k.byName {
		for _, l := range look.lanes {
			places = append(places, l.jobs...)
			if n := len(l.jobs); n > 0 && n == l.most && n < min(capacities[l.jobType], look.standing.Left(), limit) {
				k.until(l.jobs[n-1].at) // there may be more of it before what others have next
			}
		}
	}
	return places
}

// settle subtracts the taken jobs, and computes the remaining fronts and marks.
func (k *keyLooks) settle(ctx context.Context, tx *driver.WriteTx) error {
	var again marks
	var fresh fronts
	var spentFronts []string
	for _, look := range k.byName {
		if look.busy {
			k.left = true
			continue
		}
		for _, l := range look.lanes {
			k.Start(look.name, l.taken)
		}
		open := look.standing.Left() > 0
		left := false
		for _, l := range look.lanes {
			left = left || l.left()
			if l.stays(open) {
				continue
			}
			spentFronts = append(spentFronts, l.front)
			if l.left() {
				fresh.add(l.laneName, l.first, open)
			}
		}
		k.left = k.left || left && open
		if at := k.Again(look.standing); left && !at.IsZero() {
			again.add(look.name, at)
			k.again = joblimit.Earliest(k.again, at)
		}
	}
	k.changed = len(k.spent)+len(spentFronts) > 0
	if len(k.spent) > 0 {
		if err := later(ctx, tx, deleteMarks, k.spent); err != nil {
			return err
		}
	}
	if err := fresh.replace(ctx, tx, spentFronts); err != nil {
		return err
	}
	if err := writeArrivals(ctx, tx, k.Standings); err != nil {
		return err
	}
	return again.writeOnce(ctx, tx)
}

// left reports whether jobs may remain in the lane. It is unknown if none were to be read.
func (l *lane) left() bool { return l.most == 0 || l.visible > l.taken }

// stays reports whether the lane's front still leads to its jobs.
func (l *lane) stays(open bool) bool {
	return l.left() && l.open == open && l.at.compare(&l.first) == 0
}
