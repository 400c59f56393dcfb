// Package checkpoint notices that a database was put back to an earlier state. It remembers outside of the database the
// last change that was committed, and the last irreversible step before it is taken. A database that lacks one of them
// when a program begins was put back.
package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// ErrRestored reports that the database is behind what is remembered. errors.As also finds a [*postroom.HeldError].
var ErrRestored = errors.New("the database was put back to an earlier state")

// A Store keeps what must not be put back with the database. [File] implements it.
type Store interface {
	// Load returns the head and the last step; both are empty at first.
	Load() (head, step string, err error)
	// SetHead and SetStep replace the head and the step, each a text of one line and less than 250 bytes, durably.
	SetHead(head string) error
	SetStep(step string) error
}

// A Checkpoint compares the actions of a database with a [Store]. It is safe for concurrent use.
type Checkpoint struct {
	Store Store // required
	// Revision returns how often an action was written; 0 if the database does not have it. Required.
	Revision func(ctx context.Context, q dbquery.Querier, actionID string) (int, error)
	// Logged reports whether the audit log has a head that [Checkpoint.Remember] was given. Default nil: not compared.
	Logged func(ctx context.Context, q dbquery.Querier, auditHead string) (bool, error)

	mu      sync.Mutex
	checked bool   // the database was compared, and is not behind
	fault   error  // what could not be remembered
	last    string // the last change that was committed: the action, a space and its revision
	head    string // the head in the store: the last change, and the head of the audit log if there is one
}

// locked returns a function that runs fn with the lock.
func (c *Checkpoint) locked(fn func()) func() {
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		fn()
	}
}

// Reach notes a change of an action once it is committed.
func (c *Checkpoint) Reach(tx queue.Tx, actionID string, rev int) {
	queue.OnCommit(tx, c.locked(func() { c.last = actionID + " " + strconv.Itoa(rev) }))
}

// Step remembers the start of an irreversible action once it is committed, and before the step is taken. After a start
// that could not be remembered, the error is a [*postroom.HeldError].
func (c *Checkpoint) Step(tx queue.Tx, actionID string, rev int) (err error) {
	remember := c.locked(func() { c.fault = c.Store.SetStep(actionID + " " + strconv.Itoa(rev)) })
	c.locked(func() { err = held("", c.fault) })()
	if err == nil && !queue.OnCommit(tx, remember) {
		remember()
	}
	return err
}

// Check returns [ErrRestored] if the database is behind what is remembered. Once it is not, it is not compared again.
func (c *Checkpoint) Check(ctx context.Context, q dbquery.Querier) (err error) {
	checked := false
	if c.locked(func() { checked = c.checked })(); checked {
		return nil
	}
	head, step, err := c.Store.Load()
	if err != nil {
		return held("how far the database has come is not known: ", err)
	}
	last, logged, _ := strings.Cut(head, ", ")
	err = errors.Join(c.reaches(ctx, q, last), c.reaches(ctx, q, step), c.follows(ctx, q, logged))
	c.locked(func() { c.checked, c.head, c.last = err == nil, head, cmp.Or(c.last, last) })()
	return err
}

func (c *Checkpoint) reaches(ctx context.Context, q dbquery.Querier, change string) error {
	id, rev, _ := strings.Cut(change, " ")
	want, err := strconv.Atoi(cmp.Or(rev, "0"))
	has, failed := c.Revision(ctx, q, id)
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("safety: read how far the database has come: %w", err)
	}
	if has < want {
		return putBack("action " + id + " had gone further")
	}
	return nil
}

func (c *Checkpoint) follows(ctx context.Context, q dbquery.Querier, auditHead string) error {
	if auditHead == "" || c.Logged == nil {
		return nil
	}
	has, err := c.Logged(ctx, q, auditHead)
	if err == nil && !has {
		err = putBack("the end of the audit log is gone")
	}
	return err
}

func putBack(why string) error {
	return &restored{postroom.HeldError{Reason: fmt.Sprintf("%v: %s: find out why, and accept it", ErrRestored, why)}}
}

// Remember checks the database, and remembers its last change and the head of its audit log, which may be empty. The
// error is [ErrRestored], or a [*postroom.HeldError] if the store cannot be used: no irreversible action starts then.
func (c *Checkpoint) Remember(ctx context.Context, q dbquery.Querier, auditHead string) error {
	if err := c.Check(ctx, q); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	head := strings.TrimSuffix(c.last+", "+auditHead, ", ")
	if c.fault = nil; head != c.head {
		c.fault = c.Store.SetHead(head)
	}
	if c.fault == nil {
		c.head = head
	}
	return held("how far the database has come cannot be remembered: ", c.fault)
}

// AuditHead returns the head of the audit log that is remembered; empty if there is none.
func (c *Checkpoint) AuditHead() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, logged, _ := strings.Cut(c.head, ", ")
	return logged
}

// Accept forgets what is remembered, once the transaction is committed.
func (c *Checkpoint) Accept(tx queue.Tx) {
	accept := c.locked(func() {
		c.checked, c.last, c.fault = false, "", errors.Join(c.Store.SetStep(""), c.Store.SetHead(""))
	})
	if !queue.OnCommit(tx, accept) {
		accept()
	}
}

func held(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("safety: %w", &postroom.HeldError{Reason: what + err.Error()})
}

type restored struct{ postroom.HeldError }

func (e *restored) Error() string   { return "safety: " + e.Reason }
func (e *restored) Unwrap() []error { return []error{ErrRestored, &e.HeldError} }
