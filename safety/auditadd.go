package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A lastEnd is the end of the chain as this ledger last wrote it. SQLite has one chain and one writer, so the next entries follow
// this end, unless a transaction was rolled back or another program has written. Then the end is read from the database.
type lastEnd struct {
	mu    sync.Mutex
	lane  laneRow
	known bool
}

func (e *lastEnd) get() (lane laneRow, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lane, e.known
}

func (e *lastEnd) set(lane laneRow, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lane, e.known = lane, known
}

// log adds entries to a chain. The caller sets kind, subject, rev, note, account and digest of each entry.
func (l *Ledger) log(ctx context.Context, tx queue.Tx, entries ...AuditEntry) error {
	if err := l.addToLog(ctx, tx, entries); err != nil {
		return fmt.Errorf("safety: add to the log: %w", err)
	}
	return nil
}

func (l *Ledger) addToLog(ctx context.Context, tx queue.Tx, entries []AuditEntry) error {
	if err := l.keys.load(ctx, tx); err != nil {
		return err
	}
	if lane, known := l.lastEnd.get(); known && l.seen.missed(lane.AuditHead) == nil {
		if added, err := l.follow(ctx, tx, lane, entries); added || err != nil {
			return err
		}
	}
	lane, err := l.takeLane(ctx, tx)
	if err != nil {
		return err
	}
	begin, begins, err := l.beginKey(ctx, tx, &lane)
	if err != nil {
		return err
	}
	if begins {
		entries = slices.Insert(entries, 0, begin)
	}
	added, err := l.follow(ctx, tx, lane, entries)
	if err == nil && !added {
		err = errNotLogged
	}
	return err
}

// errNotLogged reports that the database has not written an entry or the end of a chain, and has returned no error.
var errNotLogged = errors.New("the database has left it out; look for triggers on audit_entries and audit_lanes")

// takeLane locks a chain until the transaction ends. It prefers one that no other transaction holds.
func (l *Ledger) takeLane(ctx context.Context, tx queue.Tx) (lane laneRow, err error) {
	if !l.onPostgres() {
		err = dbquery.Get(ctx, tx, &lane, selectLane+firstLane)
	} else if err = dbquery.Get(ctx, tx, &lane, selectLane+firstLane+skipLocked); errors.Is(err, sql.ErrNoRows) {
		err = dbquery.Get(ctx, tx, &lane, selectLane+firstLane+waitLocked)
	}
	if err == nil && l.onPostgres() && !lane.ends() { // another transaction has added to it since the statement began
		err = dbquery.Get(ctx, tx, &lane, selectLane+thisLane, lane.Lane)
	}
	// An entry that has seen more entries than there are is altered, or the rows of the chains are. New entries would not say
	// where they belong.
	lane.broken = !lane.ends() || lane.Last.seen > lane.Seen || l.sealed(&lane) == signedWrong
	return lane, err
}

// sealed checks the seal of a chain. An unused chain has none.
func (l *Ledger) sealed(r *laneRow) signed {
	if r.Entries == 0 && r.MAC == "" && r.Seal == "" {
		return signedRight
	}
	return l.keys.checkAt(r.Lane, r.Entries, r.Seal, r.sealedParts())
}

// ends reports whether the chain's row matches its last entry.
func (r *laneRow) ends() bool {
	if r.Entries == 0 {
		return r.MAC == "" && r.Seal == ""
	}
	return r.Last.entry == r.Entries && r.Last.digest == r.MAC
}

// follow adds entries to a chain that ends with lane, and remembers the new end. If the chain has another end, it writes nothing
// and returns false.
func (l *Ledger) follow(ctx context.Context, tx queue.Tx, lane laneRow, entries []AuditEntry) (added bool, err error) {
	m, err := l.mayAdd(ctx, tx, lane.AuditHead, entries)
	if err != nil {
		return false, err
	}
	end, added, err := l.add(ctx, tx, lane, entries)
	if added {
		m.to = end
		l.remember(tx, m)
	}
	return added, err
}

// add is follow without the comparison with what was seen. It returns the new end.
func (l *Ledger) add(ctx context.Context, tx queue.Tx, lane laneRow, entries []AuditEntry) (_ AuditHead, added bool, err error) {
	end := lane
	at := dbtime.Of(dbtime.Truncate(queue.Now(tx)))
	for i := range entries {
		e := &entries[i]
		end.Entries, end.Seen = end.Entries+1, end.Seen+1
		e.Lane, e.Entry, e.Seen, e.At = end.Lane, end.Entries, end.Seen, at
		e.MAC = l.keys.sign(e.signedParts(end.MAC))
		end.MAC = e.MAC
	}
	seal := ""
	if !lane.broken {
		seal = l.keys.sign(end.sealedParts())
	}
	set := []any{end.Entries, end.MAC, seal, end.Lane}
	if l.onPostgres() {
		added, err = l.addLocked(ctx, tx, entries, set)
		return end.AuditHead, added, err
	}
	moved, err := dbquery.Exec(ctx, tx, moveLane, append(set, lane.Entries, lane.MAC, lane.Seen)...)
	if err != nil || moved != 1 {
		return end.AuditHead, false, err
	}
	for some := range slices.Chunk(entries, maxEntries) {
		if err := addEntries(ctx, tx, some); err != nil {
			return end.AuditHead, false, err
		}
	}
	l.lastEnd.set(end, !lane.broken)
	return end.AuditHead, true, nil
}

// addLocked adds entries to a chain that the transaction has locked. The last statement also sets the end of the chain, in one
// round trip.
func (l *Ledger) addLocked(ctx context.Context, tx queue.Tx, entries []AuditEntry, set []any) (added bool, err error) {
	for ; len(entries) > maxEntries; entries = entries[maxEntries:] {
		if err := addEntries(ctx, tx, entries[:maxEntries]); err != nil {
			return false, err
		}
	}
	n := len(entries)
	ended, err := dbquery.Exec(ctx, tx, insertLastEntries[n], append(entryArgs(entries), append(set, n)...)...)
	return ended == 1, err
}

func addEntries(ctx context.Context, tx queue.Tx, entries []AuditEntry) error {
	n, err := dbquery.Exec(ctx, tx, insertEntries[len(entries)], entryArgs(entries)...)
	if err == nil && n != int64(len(entries)) {
		err = errNotLogged
	}
	return err
}

// maxEntries is how many entries one statement adds.
const maxEntries = 8

// entryColumns is the number of parameters of an entry.
const entryColumns = 11

func entryArgs(entries []AuditEntry) []any {
	args := make([]any, 0, entryColumns*len(entries)+5)
	for i := range entries {
		e := &entries[i]
		args = append(args, e.Lane, e.Entry, e.Seen, e.Account, e.Kind, e.Subject, e.Rev, e.Note, e.Digest, e.MAC, e.At)
	}
	return args
}

// insertEntries are the statements that add n entries. insertLastEntries also set the end of the chain.
var insertEntries, insertLastEntries = entryStatements()

func entryStatements() (plain, last [maxEntries + 1]string) {
	var values strings.Builder
	for n := 1; n <= maxEntries; n++ {
		separator := "("
		if n > 1 {
			separator = ", ("
		}
		for p := (n-1)*entryColumns + 1; p <= n*entryColumns; p++ {
			fmt.Fprintf(&values, "%s$%d", separator, p)
			separator = ", "
		}
		values.WriteString(")")
		p := n * entryColumns
		plain[n] = insertEntry + values.String()
		last[n] = fmt.Sprintf(insertLast, plain[n], p+1, p+2, p+3, p+4, p+5)
	}
	return plain, last
}
