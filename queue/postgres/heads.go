package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Jobs with a limit key wait separately (driver.HoldLimited), so that jobs that cannot run do not delay others. Claims
// take them directly, and find them by their heads: a transaction that makes a job wait for a key writes a head at the
// job's position, so that each waiting job has a head of its key and type at it or before it. A transaction that ends a
// job of a key writes a mark: the key may have capacity again. Both are only ever added, so that an open transaction
// delays nobody.
//
// Only claims remove them. The open heads, in their order, and the marks are the keys for a claim to examine. It locks
// all heads of a key, or skips the key if another claim has locked one of them. Two claims that examine a key at the
// same time see at least one head in common, since a claim leaves the heads that it has not seen. So each counts the
// running jobs of the key including those of earlier claims, takes the jobs that the limit permits, and leaves one head
// for each type with remaining jobs: open if the key has capacity left, otherwise closed. A closed head is opened by
// the claim that finds a mark, or by a change of the limit. A key that a rate closes gets a mark for the time when it
// permits the next start.

// A position is the position of a job in the order of claims.
type position struct {
	priority  int
	notBefore time.Time
	id        string
}

func (p *position) compare(q *position) int {
	return cmp.Or(cmp.Compare(q.priority, p.priority), p.notBefore.Compare(q.notBefore), cmp.Compare(p.id, q.id))
}

// A laneName names the waiting jobs of one limit key and type.
type laneName struct{ key, jobType string }

// heads are the heads to write, one for each lane.
type heads struct {
	lanes []laneName
	at    map[laneName]position
	open  map[laneName]bool
}

// add adds a head at the job or keeps an earlier one. It ignores the empty key.
func (f *heads) add(name laneName, at position, open bool) {
	if name.key == "" {
		return
	}
	if f.at == nil {
		f.at, f.open = make(map[laneName]position), make(map[laneName]bool)
	}
	before, ok := f.at[name]
	if !ok {
		f.lanes = append(f.lanes, name)
	}
	if !ok || at.compare(&before) < 0 {
		f.at[name] = at
	}
	f.open[name] = open
}

func (f *heads) write(ctx context.Context, tx *driver.WriteTx) error {
	if len(f.lanes) == 0 {
		return nil
	}
	return store(ctx, tx, insertHeads, f.columns()...)
}

// replace writes the heads in place of those at the ctids.
func (f *heads) replace(ctx context.Context, tx *driver.WriteTx, spent []string) error {
	if len(spent) == 0 {
		return f.write(ctx, tx)
	}
	return later(ctx, tx, moveHeads, append(f.columns(), spent)...)
}

func (f *heads) columns() []any {
	var rows positions
	open := make([]bool, len(f.lanes))
	for i, name := range f.lanes {
		rows.add(name, f.at[name])
		open[i] = f.open[name]
	}
	return []any{rows.keys, rows.types, rows.priorities, rows.notBefore, rows.ids, open}
}

// positions returns lanes and a position in each, as the columns of one statement.
type positions struct {
	keys, types, ids []string
	priorities       []int
	notBefore        []time.Time
}

func (p *positions) add(name laneName, at position) {
	p.keys, p.types = append(p.keys, name.key), append(p.types, name.jobType)
	p.priorities, p.notBefore, p.ids = append(p.priorities, at.priority), append(p.notBefore, at.notBefore),
		append(p.ids, at.id)
}

// A foundRow is a row of lockHeads.
type foundRow struct {
	kind  string
	place string // the ctid of a mark; empty if it stays
	key   string
	at    position // of the end
}

func scanFound(row jobsql.Scanner) (f foundRow, err error) {
	var place, key, id sql.NullString
	var priority sql.NullInt64
	var notBefore jobsql.Instant
	err = row.Scan(&f.kind, &place, &key, &priority, &notBefore, &id)
	f.place, f.key = place.String, key.String
	f.at = position{int(priority.Int64), notBefore.Time, id.String}
	return f, err
}

// The kinds of rows of lockHeads.
const (
	foundMark = "mark"
	// Another claim examines the key.
	foundBusy = "busy"
	// What comes after a row of this kind has not been examined.
	foundEnd = "end"
	// Types are limited.
	foundTypes = "types"
	// There is no row of this kind, see readLanes.
	foundLanes = "lanes"
)
