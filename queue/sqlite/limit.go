package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// openKeys is jobsql.Store.OpenKeys. It has the ready jobs of the keys concerned wait like all that have a limited key,
// and marks the keys: the next claims count how much capacity there is now.
func openKeys(ctx context.Context, tx *driver.WriteTx, target driver.Target) error {
	which := theKey
	if target.Kind == driver.TargetKeyPrefix {
		which = keysWithPrefix
	}
	for _, statement := range []string{putBackReady + which, markWaiting + which + onceMarked} {
		if _, err := tx.ExecContext(ctx, statement, target.Name); err != nil {
			return err
		}
	}
	return nil
}

// readTypeLimits reads the limits of types over all machines. What runs is counted once for all of them.
func readTypeLimits(ctx context.Context, tx *driver.WriteTx, now time.Time) (limits joblimit.Types, err error) {
	usages, err := readUsages(ctx, tx, selectTypeLimits)
	if err != nil {
		return limits, err
	}
	var running map[string]int
	if slices.ContainsFunc(usages, func(s joblimit.Usage) bool { return s.Limit.MaxRunning > 0 }) {
		if running, err = countTypes(ctx, tx); err != nil {
			return limits, err
		}
	}
	limits.Usages = joblimit.NewUsages(driver.TargetType, now)
	for _, s := range usages {
		s.Running = running[s.Name]
		limits.Add(s)
	}
	return limits, nil
}

// countTypes counts the running jobs of each type.
func countTypes(ctx context.Context, tx *driver.WriteTx) (map[string]int, error) {
	running := make(map[string]int)
	rows, err := tx.QueryContext(ctx, countRunning)
	_, err = jobsql.Collect(rows, err, func(row jobsql.Scanner) (n int, err error) {
		var name string
		err = row.Scan(&name, &n)
		running[name] = n
		return n, err
	})
	return running, err
}

// spendTypes subtracts the claimed jobs from the limits of their types.
func spendTypes(ctx context.Context, tx *driver.WriteTx, limits joblimit.Types, jobs []driver.Job) error {
	for i := range jobs {
		limits.Start(jobs[i].Type, 1)
	}
	return writeArrivals(ctx, tx, limits.Usages)
}

// keyLimits are the limit keys that a claim examines: the marked ones, and those whose jobs it may take.
type keyLimits struct {
	*joblimit.Usages

	marked marks
	lanes  []*lane // that it has read, and all of keys that were marked
	shut   int     // how many of them have no capacity
}

func newKeyLimits(now time.Time) *keyLimits {
	return &keyLimits{Usages: joblimit.NewUsages(driver.TargetKey, now), marked: newMarks()}
}

// admit examines marked keys, and reports whether some may remain. The more jobs are requested, the more keys it
// examines; the next claim examines the rest. Of a key with capacity, every waiting type becomes a lane.
func (k *keyLimits) admit(ctx context.Context, tx *driver.WriteTx, wanted int) (more bool, err error) {
	for n := 4 + wanted/4; k.Len()+len(k.lanes) < 40+4*wanted; {
		taken, err := takeMarks(ctx, tx, k.Now(), n)
		if err != nil {
			return false, err
		}
		if err := k.admitSome(ctx, tx, taken); err != nil || len(taken) < n {
			return false, err
		}
	}
	return true, nil
}

func (k *keyLimits) admitSome(ctx context.Context, tx *driver.WriteTx, taken marks) error {
	if err := k.read(ctx, tx, taken); err != nil {
		return err
	}
	var open []string
	for key := range taken {
		if _, twice := k.marked[key]; twice { // freed and marked: it has its lanes
			continue
		}
		k.marked.add(key)
		if k.Of(key).Left() > 0 {
			open = append(open, key)
		}
	}
	if len(open) == 0 {
		return nil
	}
	rows, err := tx.QueryContext(ctx, selectWaitingTypes, list(open))
	lanes, err := jobsql.Collect(rows, err, func(row jobsql.Scanner) (*lane, error) {
		l := &lane{kind: laneWaiting}
		err := row.Scan(&l.limitKey, &l.typeName)
		l.bounds.Key = &k.Of(l.limitKey).Capacity
		return l, err
	})
	k.lanes = append(k.lanes, lanes...)
	return err
}

// read reads the state of keys that have not been examined.
func (k *keyLimits) read(ctx context.Context, tx *driver.WriteTx, keys marks) error {
	var names []string
	for key := range keys {
		if k.Of(key) == nil {
			names = append(names, key)
		}
	}
	if len(names) == 0 {
		return nil
	}
	usages, err := readUsages(ctx, tx, selectKeys, list(names))
	if err != nil {
		return err
	}
	for _, s := range usages {
		if k.Add(s).Left() == 0 {
			k.shut++
		}
	}
	for _, key := range names {
		if k.Of(key) == nil {
			return fmt.Errorf("sqlite: the limit key %q is not found again", key)
		}
	}
	return nil
}

// enter examines the keys of waiting lanes that are about to be read.
func (k *keyLimits) enter(ctx context.Context, tx *driver.WriteTx, lanes []*lane) error {
	keys := newMarks()
	for _, l := range lanes {
		keys.add(l.limitKey)
	}
	if err := k.read(ctx, tx, keys); err != nil {
		return err
	}
	for _, l := range lanes {
		if l.bounds.Key == nil {
			l.bounds.Key = &k.Of(l.limitKey).Capacity
			k.lanes = append(k.lanes, l)
		}
	}
	return nil
}

// spend subtracts the claimed jobs from the limits, and ensures that keys that wait for a rate are examined in time.
// Keys that wait for the end of a job are examined then.
func (k *keyLimits) spend(ctx context.Context, tx *driver.WriteTx, jobs []driver.Job) error {
	for i := range jobs {
		k.Start(jobs[i].LimitKey, 1)
	}
	if err := writeArrivals(ctx, tx, k.Usages); err != nil {
		return err
	}
	var later jsonRows
	for s := range k.All {
		if again := k.Again(s); !again.IsZero() {
			later.begin()
			later.time(again)
			later.text(s.Name)
		}
	}
	if later.empty() {
		return nil
	}
	_, err := tx.ExecContext(ctx, markLater, later.end())
	return err
}

// keys returns the examined keys.
func (k *keyLimits) keys() marks {
	keys := newMarks()
	for s := range k.All {
		keys.add(s.Name)
	}
	return keys
}

// readUsages parses the text of usageText, one usage a line.
func readUsages(ctx context.Context, tx *driver.WriteTx, query string, args ...any) ([]joblimit.Usage, error) {
	var text sql.NullString
	if err := scanRow(ctx, tx, query, args, &text); err != nil {
		return nil, err
	}
	usages := make([]joblimit.Usage, 0, 1+strings.Count(text.String, "\n"))
	for line := range strings.Lines(text.String) {
		s, err := parseUsage(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("sqlite: the usage of a limit cannot be read: %w", err)
		}
		usages = append(usages, s)
	}
	return usages, nil
}

func parseUsage(line string) (s joblimit.Usage, err error) {
	var paused, period int
	var errs []error
	for _, field := range []*int{&paused, &s.Limit.MaxRunning, &s.Limit.Rate, &period, &s.Limit.Burst, &s.Running} {
		number, rest, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(number)
		*field, line, errs = n, rest, append(errs, err)
	}
	arrival, name, _ := strings.Cut(line, " ")
	if arrival != "" {
		var at jobsql.Instant
		errs = append(errs, at.Scan(arrival))
		s.Arrival = at.Time
	}
	s.Limit.Paused, s.Limit.Per = paused > 0, time.Duration(period)*time.Microsecond
	s.Name, err = parseText(name)
	return s, errors.Join(append(errs, err)...)
}

// parseText reads a text that SQLite's json_quote has written.
func parseText(quoted string) (text string, err error) {
	if n := len(quoted); n >= 2 && !strings.Contains(quoted, `\`) {
		return quoted[1 : n-1], nil
	}
	err = json.Unmarshal([]byte(quoted), &text)
	return text, err
}

// writeArrivals stores the rates that have moved.
func writeArrivals(ctx context.Context, tx *driver.WriteTx, usages *joblimit.Usages) error {
	var rows jsonRows
	for _, s := range usages.Moved() {
		rows.begin()
		rows.text(string(usages.Kind()))
		rows.text(s.Name)
		rows.time(s.Arrival)
	}
	if rows.empty() {
		return nil
	}
	_, err := tx.ExecContext(ctx, setArrivals, rows.end())
	return err
}
