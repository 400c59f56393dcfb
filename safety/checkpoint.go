package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/audit"
)

// A CheckpointStore keeps what must not be put back with the database. *CheckpointFile implements it.
type CheckpointStore interface {
	// Load returns the head and the steps, in their order; both are empty at first.
	Load() (head string, steps []string, err error)
	// SetHead replaces the head, a text of one line and less than 250 bytes.
	SetHead(head string) error
	// AddStep adds a step, a text of one line. It is durable when AddStep returns.
	AddStep(step string) error
}

// A mark is a change of an action. A database that has come as far has the action at that revision, or a later one.
type mark struct {
	actionID string
	rev      int
}

func (m mark) String() string { return m.actionID + " " + strconv.Itoa(m.rev) }

func parseMark(s string) (m mark, err error) {
	id, rev, _ := strings.Cut(s, " ")
	m.actionID = id
	m.rev, err = strconv.Atoi(rev)
	return m, err
}

// acceptedStep begins the step that makes earlier ones void, and ends with the time.
const acceptedStep = "accepted "

// A checkpoint remembers the last change of an action that was committed, the head of the audit log, and each start of an action
// that cannot be undone. If the database lacks one of them when the program begins, it was put back.
type checkpoint struct {
	store CheckpointStore // nil: nothing is remembered

	mu      sync.Mutex
	checked bool            // the database was compared, and is not behind
	fault   error           // what could not be remembered
	last    mark            // the last change that was committed
	head    string          // the head in the store
	taken   map[string]bool // the actions whose irreversible steps may have been taken
}

func newCheckpoint(store CheckpointStore) (*checkpoint, error) {
	c := &checkpoint{store: store, taken: map[string]bool{}}
	if store == nil {
		return c, nil
	}
	_, _, err := store.Load()
	return c, err
}

// reach notes a change once it is committed.
func (c *checkpoint) reach(tx queue.Tx, m mark) {
	if c.store == nil {
		return
	}
	queue.OnCommit(tx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last = m
	})
}

// step remembers the start of an action that cannot be undone, once it is committed and before its job goes on. A start that could
// not be remembered is the last one.
func (c *checkpoint) step(tx queue.Tx, m mark) error {
	c.mu.Lock()
	fault := c.fault
	c.mu.Unlock()
	if fault != nil {
		return held(fault.Error(), time.Time{})
	}
	add := func() {
		var err error
		if c.store != nil {
			err = c.store.AddStep(m.String())
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.fault, c.taken[m.actionID] = err, true
	}
	if !queue.OnCommit(tx, add) {
		add()
	}
	return nil
}

// has reports whether an irreversible step of the action may have been taken.
func (c *checkpoint) has(actionID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taken[actionID]
}

// check returns [ErrRestored] if the database is behind what is remembered. Once it is not, it is not compared again.
func (c *checkpoint) check(ctx context.Context, q dbquery.Querier, log AuditLog) error {
	c.mu.Lock()
	checked := c.store == nil || c.checked
	c.mu.Unlock()
	if checked {
		return nil
	}
	head, steps, err := c.store.Load()
	if err != nil {
		return fmt.Errorf("safety: %w", held("how far the database has come is not known: "+err.Error(), time.Time{}))
	}
	taken, newest := map[string]bool{}, ""
	for _, s := range steps {
		if newest = s; strings.HasPrefix(s, acceptedStep) {
			clear(taken)
			newest = ""
			continue
		}
		id, _, _ := strings.Cut(s, " ")
		taken[id] = true
	}
	change, logged, _ := strings.Cut(head, ", ")
	for _, text := range []string{change, newest} {
		if err := reaches(ctx, q, text); err != nil {
			return err
		}
	}
	if logged != "" && log != nil {
		if err := follows(ctx, q, log, logged); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checked, c.head, c.taken = true, head, taken
	return nil
}

// reaches returns [ErrRestored] if the database does not have a mark; an empty text is no mark.
func reaches(ctx context.Context, q dbquery.Querier, text string) error {
	if text == "" {
		return nil
	}
	m, err := parseMark(text)
	if err != nil {
		return fmt.Errorf("safety: %q, which says how far the database has come, cannot be read: %w", text, err)
	}
	var rev int
	err = dbquery.Get(ctx, q, &rev, selectRev, m.actionID)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("safety: read how far the database has come: %w", err)
	case rev < m.rev:
		return restoredError("action " + m.actionID + " had gone further")
	}
	return nil
}

// follows returns [ErrRestored] if the audit log does not have a head.
func follows(ctx context.Context, q dbquery.Querier, log AuditLog, text string) error {
	head, err := audit.ParseHead(text)
	if err != nil {
		return err
	}
	has, err := log.Has(ctx, q, head)
	if err == nil && !has {
		err = restoredError("the end of the audit log is gone")
	}
	return err
}

// A restored error matches [ErrRestored], and is a [*postroom.HeldError].
type restored struct{ postroom.HeldError }

func (e *restored) Error() string   { return "safety: " + e.Reason }
func (e *restored) Unwrap() []error { return []error{ErrRestored, &e.HeldError} }

func restoredError(why string) error {
	return &restored{postroom.HeldError{Reason: fmt.Sprintf("%v: %s: find out why, and accept it", ErrRestored, why)}}
}

// Remember checks that the database is not behind what [Config].Checkpoint remembers, and remembers how far it has come. Call it
// when a program begins, every second or so, and when it ends. The start of an action that cannot be undone is remembered without
// that. The error is [ErrRestored], or a [*postroom.HeldError] if the checkpoint cannot be used: then no action starts that cannot
// be undone.
func (l *Ledger) Remember(ctx context.Context) error {
	c, db := l.checkpoint, l.cfg.DB.Reader()
	if c.store == nil {
		return nil
	}
	if err := c.check(ctx, db, l.cfg.Audit); err != nil {
		return err
	}
	c.mu.Lock()
	head, written := c.last.String(), c.head
	if c.last.rev == 0 {
		head, _, _ = strings.Cut(written, ", ")
	}
	c.mu.Unlock()
	if l.cfg.Audit != nil {
		logged, err := l.cfg.Audit.Head(ctx, db)
		if err != nil {
			return err
		}
		if logged.Entries > 0 {
			head += ", " + logged.String()
		}
	}
	var err error
	if head != written {
		err = c.store.SetHead(head)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.head = head
	}
	if c.fault = err; err != nil {
		return fmt.Errorf("safety: %w", held("how far the database has come cannot be remembered: "+err.Error(), time.Time{}))
	}
	return nil
}

// AcceptRestore accepts a database that was put back ([ErrRestored]): somebody has restored it, and stands by it. by names the
// person, and must not be blank. The database does not tell what happened after its state. So what a person had approved before,
// and what cannot be undone, waits for a person again, waiting requests must be asked again ([Ledger.Renew]), and such actions
// that had started fail. AcceptRestore applies to all ledgers that share the database, and the checkpoint of each must accept it.
func (l *Ledger) AcceptRestore(ctx context.Context, tx queue.Tx, by, why string) error {
	if strings.TrimSpace(by) == "" {
		return errors.New("safety: accept the database: the name of who does it is blank, and it goes on record")
	}
	now := queue.Now(tx)
	if _, err := tx.ExecContext(ctx, acceptRestore, dbtime.Of(now)); err != nil {
		return fmt.Errorf("safety: accept the database: %w", err)
	}
	if err := l.event(ctx, tx, Event{Kind: EventRestored, By: dbvalue.Clean(by), Why: dbvalue.Clean(why)}); err != nil {
		return err
	}
	c := l.checkpoint
	if c.store == nil {
		return nil
	}
	accept := func() {
		err := errors.Join(c.store.AddStep(acceptedStep+dbtime.Format(now)), c.store.SetHead(""))
		c.mu.Lock()
		defer c.mu.Unlock()
		c.checked, c.fault, c.head, c.last = false, err, "", mark{}
	}
	if !queue.OnCommit(tx, accept) {
		accept()
	}
	return nil
}
