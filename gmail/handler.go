package gmail

import (
	"context"
	"encoding/json"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A run is an attempt of an action's job, as the Handler of a kind sees it.
type run struct{ *queue.Attempt }

var _ postroom.Run = run{}

func (r run) JobID() string { return r.Job.ID }

func (r run) StepJSON(ctx context.Context, name string, fn func(ctx context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	return queue.Step(ctx, r.Attempt, name, fn)
}

// runHandler carries out an action by the Handler of its kind.
func runHandler(ctx context.Context, w *queue.Work[ActionPayload], kind postroom.Kind, a postroom.Action) (outcome, error) {
	did, err := kind.Handler(ctx, run{w.Attempt}, a)
	if err != nil {
		return outcome{}, err
	}
	hint := postroom.UndoHint{InverseAction: postroom.None, Irreversible: kind.Undo == nil}
	if kind.Undo != nil {
		hint.Undo = did.Undo
		if hint.Undo == nil {
			hint.Undo = postroom.Parameters{}
		}
	}
	return outcome{hint: hint, commit: did.Commit}, nil
}
