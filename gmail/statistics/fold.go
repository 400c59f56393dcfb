package statistics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// Job counts the marked days anew.
const Job queue.Type[struct{}] = "statistics.count"

// NewJob makes a [Job], of which one waits or runs at a time.
func NewJob() queue.NewJob {
	return Job.New(struct{}{}, &queue.Options{Key: queue.WhileUnfinished(string(Job))})
}

// Schedule has what was changed counted every five minutes.
func Schedule() queue.Schedule {
	return queue.Schedule{Name: string(Job), Cron: "@every 5m", Job: NewJob()}
}

// Register registers the handler of [Job].
func (s *Store) Register(d *queue.Dispatcher) error {
	if d == nil {
		return errors.New("statistics: Register: the dispatcher is nil; give what queue.NewDispatcher returns")
	}
	queue.Handle(d, Job, func(ctx context.Context, _ *queue.Work[struct{}]) error { return s.Count(ctx) })
	return nil
}

const (
	// marksAtOnce is how many marks are read at once.
	marksAtOnce = 5000
	// changesAtOnce is how many changes are written at once: large transactions hold the writer of SQLite. A day with more
	// is written in parts, of which each is right for itself, since a change is added to the day, its month and its year.
	changesAtOnce = 500
)

type markRow struct {
	ID        int64  `db:"id"`
	AccountID string `db:"account_id"`
	Day       day    `db:"day"`
}

type accountRow struct {
	AccountID string      `db:"account_id"`
	Rev       int64       `db:"rev"`
	CountedAt dbtime.Time `db:"counted_at"`
}

// Count counts the days anew that are marked when it begins; what is marked meanwhile may wait for the next time. The
// [Job] does so.
func (s *Store) Count(ctx context.Context) error {
	for {
		more, err := s.countSome(ctx)
		if err != nil {
			return fmt.Errorf("statistics: %w", err)
		}
		if !more {
			return nil
		}
	}
}

// countSome counts the days of some marks, and reports whether others may be left.
func (s *Store) countSome(ctx context.Context) (more bool, err error) {
	// The revs are read before the marks: whoever writes in between has the later write refused.
	revs, err := s.revs(ctx)
	if err != nil {
		return false, err
	}
	var rows []markRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, sqlMarks, marksAtOnce); err != nil {
		return false, fmt.Errorf("read the marks: %w", err)
	}
	marks := map[string]map[day][]int64{}
	for _, r := range rows {
		if marks[r.AccountID] == nil {
			marks[r.AccountID] = map[day][]int64{}
		}
		marks[r.AccountID][r.Day] = append(marks[r.AccountID][r.Day], r.ID)
	}
	more = len(rows) == marksAtOnce
	for accountID, days := range marks {
		b := batch{store: s, accountID: accountID, rev: revs[accountID].Rev}
		err := b.count(ctx, days)
		if err != nil && !errors.Is(err, errOvertaken) {
			return false, fmt.Errorf("account %s: %w", accountID, err)
		}
		more = more || err != nil || b.found
	}
	return more, nil
}

func (s *Store) revs(ctx context.Context) (map[string]accountRow, error) {
	var rows []accountRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, sqlRevs); err != nil {
		return nil, fmt.Errorf("read what was counted before: %w", err)
	}
	revs := make(map[string]accountRow, len(rows))
	for _, r := range rows {
		revs[r.AccountID] = r
	}
	return revs, nil
}

// A place is where a cell is stored.
type place struct {
	span string
	day  string
	cell
}

// A batch is what is written of an account in one transaction.
type batch struct {
	store     *Store
	accountID string
	rev       int64
	changes   map[place]sum
	changed   int
	days      []day // to be marked
	found     bool  // days to be marked, in this transaction or an earlier one
	marks     []int64
}

// errOvertaken: another has written of the account since the marks were read. They are read again.
var errOvertaken = errors.New("another has counted meanwhile")

// count counts the marked days of the account.
func (b *batch) count(ctx context.Context, marked map[day][]int64) error {
	for _, of := range slices.Sorted(maps.Keys(marked)) {
		if err := b.take(ctx, of); err != nil {
			return err
		}
		b.marks = append(b.marks, marked[of]...)
	}
	if len(b.marks) == 0 {
		return nil
	}
	return b.write(ctx)
}

// take adds how a day differs from what is stored of it.
func (b *batch) take(ctx context.Context, of day) (err error) {
	if of == "" {
		b.days, err = b.store.days(ctx, b.accountID)
		b.found = true
		return err
	}
	is, err := count(ctx, b.store.db.Reader(), b.accountID, of)
	if err != nil {
		return err
	}
	was, err := b.store.stored(ctx, b.accountID, of)
	if err != nil {
		return err
	}
	for at, s := range is {
		if err := b.add(ctx, of, at, s.N-was[at].N, s.Total-was[at].Total); err != nil {
			return err
		}
	}
	for at, s := range was {
		if _, still := is[at]; still {
			continue
		}
		if err := b.add(ctx, of, at, -s.N, -s.Total); err != nil {
			return err
		}
	}
	return nil
}

// add adds a difference to a day, its month and its year. It writes what there is first if that is much.
func (b *batch) add(ctx context.Context, of day, at cell, n, total int64) error {
	if n == 0 && total == 0 {
		return nil
	}
	if b.changed >= changesAtOnce {
		if err := b.write(ctx); err != nil {
			return err
		}
	}
	if b.changes == nil {
		b.changes = map[place]sum{}
	}
	b.changed++
	for _, p := range []place{{"day", string(of), at}, {"month", string(of[:8] + "01"), at},
		{"year", string(of[:5] + "01-01"), at}} {
		s := b.changes[p]
		b.changes[p] = sum{s.N + n, s.Total + total}
	}
	return nil
}

// stored returns what is stored of a day.
func (s *Store) stored(ctx context.Context, accountID string, of day) (counts, error) {
	var rows []struct {
		cell
		sum
	}
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, sqlStored, accountID, string(of)); err != nil {
		return nil, fmt.Errorf("read what is stored of %s: %w", of, err)
	}
	c := make(counts, len(rows))
	for _, r := range rows {
		c[r.cell] = r.sum
	}
	return c, nil
}

// days returns the days on which an account has something that is counted, or was.
func (s *Store) days(ctx context.Context, accountID string) ([]day, error) {
	all := map[day]bool{}
	for _, query := range daysQueries(string(s.db.Dialect())) {
		var list []day
		if err := dbquery.Select(ctx, s.db.Reader(), &list, query, accountID); err != nil {
			return nil, fmt.Errorf("list its days: %w", err)
		}
		for _, d := range list {
			all[d] = true
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// write writes what differs and deletes the marks that were read, and begins anew.
func (b *batch) write(ctx context.Context) error {
	err := b.store.db.Write(ctx, b.writeTx)
	b.rev++
	b.changes, b.changed, b.days, b.marks = nil, 0, nil, nil
	return err
}

func (b *batch) writeTx(ctx context.Context, tx queue.Tx) error {
	claimed, err := dbquery.Exec(ctx, tx, sqlClaim, b.accountID, dbNow(tx), b.rev)
	if err != nil {
		return err
	}
	if claimed == 0 {
		return errOvertaken
	}
	var counted int // 0 for an account that is being removed, or has been: what was counted is deleted with it
	if err := dbquery.Get(ctx, tx, &counted, sqlIsCounted, b.accountID); err != nil {
		return err
	}
	if counted == 0 {
		return Forget(ctx, tx, b.accountID)
	}
	for _, d := range b.days {
		if _, err := dbquery.Exec(ctx, tx, sqlMarkDay, b.accountID, string(d)); err != nil {
			return err
		}
	}
	if err := b.writeChanges(ctx, tx); err != nil {
		return err
	}
	return b.deleteMarks(ctx, tx)
}

// rowsAtOnce is how many rows one statement writes.
const rowsAtOnce = 200

func (b *batch) writeChanges(ctx context.Context, tx queue.Tx) error {
	places := slices.SortedFunc(maps.Keys(b.changes), comparePlaces)
	for some := range slices.Chunk(places, rowsAtOnce) {
		args, values := []any{b.accountID}, make([]string, len(some))
		for i, p := range some {
			s := b.changes[p]
			n := len(args)
			values[i] = fmt.Sprintf("($1, $%d, $%d, $%d, $%d, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4, n+5, n+6, n+7, n+8)
			args = append(args, string(p.Dimension), p.span, p.day, p.Name, p.Outcome, p.Bin, s.N, s.Total)
		}
		if _, err := dbquery.Exec(ctx, tx, sqlAdd+strings.Join(values, ", ")+sqlToWhatIsThere, args...); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	_, err := dbquery.Exec(ctx, tx, sqlDropEmpty, b.accountID)
	return err
}

// comparePlaces is the order of the primary key.
func comparePlaces(a, b place) int {
	return strings.Compare(a.key(), b.key())
}

func (p place) key() string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%s\x00%05d", p.Dimension, p.span, p.day, p.Name, p.Outcome, p.Bin)
}

// deleteMarks deletes exactly those that were read: others that were committed since, with lower ids or higher, stay.
func (b *batch) deleteMarks(ctx context.Context, tx queue.Tx) error {
	for some := range slices.Chunk(b.marks, rowsAtOnce) {
		args, places := make([]any, len(some)), make([]string, len(some))
		for i, id := range some {
			args[i], places[i] = id, fmt.Sprintf("$%d", i+1)
		}
		_, err := dbquery.Exec(ctx, tx, "DELETE FROM statistics_marks WHERE id IN ("+strings.Join(places, ", ")+")", args...)
		if err != nil {
			return fmt.Errorf("delete the marks: %w", err)
		}
	}
	return nil
}

func dbNow(tx queue.Tx) dbtime.Time { return dbtime.Of(dbtime.Truncate(queue.Now(tx))) }
