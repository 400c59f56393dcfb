package guidance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// ErrChanged reports that a patch was made for an older revision of the instruction.
var ErrChanged = errors.New("it has been changed meanwhile")

// ErrSame reports that an instruction was to be swapped with itself.
var ErrSame = errors.New("it cannot be swapped with itself")

// Create stores a new instruction under a new id and returns the stored one. Its id, times and revision are ignored.
func (s *Store) Create(ctx context.Context, tx queue.Tx, i Instruction) (Instruction, error) {
	i, err := i.checked(s.cfg.Kinds)
	if err != nil {
		return i, err
	}
	if i.ID, err = uuid7.New(); err != nil {
		return i, err
	}
	now := dbtime.Truncate(queue.Now(tx))
	i.CreatedAt, i.UpdatedAt, i.Revision = now, now, 1
	forbids, err := encodeForbids(i.Forbids)
	if err == nil {
		_, err = dbquery.Exec(ctx, tx, sqlInsert, i.ID, i.Name, i.Scope, i.ScopeRef, i.Text, forbids,
			dbvalue.Number(i.Unauthenticated), dbvalue.Number(i.Enabled),
			i.Priority, dbtime.Of(now), dbtime.Of(now))
	}
	return i, failed("store", i.ID, err)
}

func encodeForbids(kinds []postroom.ActionType) (string, error) {
	if kinds == nil {
		kinds = []postroom.ActionType{}
	}
	encoded, err := json.Marshal(kinds)
	return string(encoded), err
}

// A Patch changes an instruction; nil fields do not change.
type Patch struct {
	Name     *string                `json:"name"`
	Scope    *Scope                 `json:"scope"` // all also clears the reference
	ScopeRef *string                `json:"scope_ref"`
	Text     *string                `json:"text"`
	Forbids  *[]postroom.ActionType `json:"forbids"`
	Enabled  *bool                  `json:"enabled"`
	// Unauthenticated is that of [Instruction].
	Unauthenticated *bool `json:"unauthenticated"`
	Priority        *int  `json:"priority"`
	// Revision is the revision of the instruction for which the patch was made: if the instruction has changed since,
	// nothing changes, and the error is [ErrChanged]. 0 means no check.
	Revision int64 `json:"revision"`
}

func (p *Patch) apply(i *Instruction) {
	set(&i.Name, p.Name)
	set(&i.Scope, p.Scope)
	set(&i.ScopeRef, p.ScopeRef)
	if p.Scope != nil && *p.Scope == ScopeAll && p.ScopeRef == nil {
		i.ScopeRef = ""
	}
	set(&i.Text, p.Text)
	set(&i.Forbids, p.Forbids)
	set(&i.Unauthenticated, p.Unauthenticated)
	set(&i.Enabled, p.Enabled)
	set(&i.Priority, p.Priority)
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// Patch changes an instruction and returns it as changed.
func (s *Store) Patch(ctx context.Context, tx queue.Tx, id string, p Patch) (Instruction, error) {
	i, err := locked(ctx, tx, id)
	if err != nil {
		return i, err
	}
	if p.Revision != 0 && p.Revision != i.Revision {
		return i, failed("change", id, fmt.Errorf("%w: the patch is for revision %d and it is at %d; read it again",
			ErrChanged, p.Revision, i.Revision))
	}
	p.apply(&i)
	if i, err = i.checked(s.cfg.Kinds); err != nil {
		return i, err
	}
	return update(ctx, tx, i)
}

// Swap exchanges the priorities of two instructions. It locks them in the order of their ids, so that two swaps do not
// deadlock.
func (s *Store) Swap(ctx context.Context, tx queue.Tx, id, otherID string) error {
	if id == otherID {
		return failed("swap", id, ErrSame)
	}
	a, err := locked(ctx, tx, min(id, otherID))
	if err != nil {
		return err
	}
	b, err := locked(ctx, tx, max(id, otherID))
	if err != nil {
		return err
	}
	a.Priority, b.Priority = b.Priority, a.Priority
	if _, err := update(ctx, tx, a); err != nil {
		return err
	}
	_, err = update(ctx, tx, b)
	return err
}

// Delete deletes an instruction.
func (s *Store) Delete(ctx context.Context, tx queue.Tx, id string) error {
	n, err := dbquery.Exec(ctx, tx, sqlDelete, id)
	return changed("delete", id, n, err)
}

// locked waits for other changes of the instruction, and blocks them until the transaction ends.
func locked(ctx context.Context, tx queue.Tx, id string) (Instruction, error) {
	n, err := dbquery.Exec(ctx, tx, sqlLock, id)
	if err := changed("change", id, n, err); err != nil {
		return Instruction{}, err
	}
	return get(ctx, tx, id)
}

func update(ctx context.Context, tx queue.Tx, i Instruction) (Instruction, error) {
	i.UpdatedAt = dbtime.Truncate(queue.Now(tx))
	i.Revision++
	forbids, err := encodeForbids(i.Forbids)
	if err != nil {
		return i, failed("change", i.ID, err)
	}
	n, err := dbquery.Exec(ctx, tx, sqlUpdate, i.Name, i.Scope, i.ScopeRef, i.Text, forbids,
		dbvalue.Number(i.Unauthenticated), dbvalue.Number(i.Enabled), i.Priority,
		i.Revision, dbtime.Of(i.UpdatedAt), i.ID)
	return i, changed("change", i.ID, n, err)
}

func changed(what, id string, n int64, err error) error {
	if err == nil && n == 0 {
		err = postroom.ErrNotFound
	}
	return failed(what, id, err)
}

func failed(what, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("llm/guidance: %s instruction %q: %w", what, id, err)
}
