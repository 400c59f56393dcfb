package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// byHost reports whether the host undoes the action itself, by the Undo of its kind.
func byHost(original postroom.Action) bool {
	return original.UndoHint != nil && original.UndoHint.Undo != nil
}

// checkHost returns an error if the host was to undo the action and no longer does.
func (u *Undoer) checkHost(original postroom.Action) error {
	if !byHost(original) {
		return nil
	}
	kind, ok := u.kinds.Kind(original.Type)
	if !ok || kind.Undo == nil {
		return fmt.Errorf("%w: Config.Kinds has no kind %s with an Undo", ErrIrreversible, original.Type)
	}
	return nil
}

// restoreByHost has the host undo the action.
func (u *Undoer) restoreByHost(ctx context.Context, w *queue.Work[ActionPayload], original,
	undo postroom.Action) error {
	kind, _ := u.kinds.Kind(original.Type)
	commit, err := kind.Undo(ctx, run{w.Attempt}, original)
	if err != nil {
		return err
	}
	stored, err := json.Marshal(Report{Preserved: []ExternalChange{}})
	if err != nil {
		return queue.Fatal(err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		err := errors.Join(
			u.ledger.SetReport(ctx, tx, undo.ID, stored),
			u.ledger.Complete(ctx, tx, undo.ID, postroom.UndoHint{InverseAction: postroom.None, Irreversible: true}),
		)
		if err != nil || commit == nil {
			return err
		}
		return commit(ctx, tx)
	})
}

// A run is an attempt of an undo's job, as the Undo of a kind sees it.
type run struct{ *queue.Attempt }

var _ postroom.Run = run{}

func (r run) JobID() string { return r.Job.ID }

func (r run) StepJSON(ctx context.Context, name string, fn func(ctx context.Context) (json.RawMessage,
	error)) (json.RawMessage, error) {
	return queue.Step(ctx, r.Attempt, name, fn)
}
