package view

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/safety"
)

// An UndoPreview is what taking back all that a filter selects would do.
type UndoPreview struct {
	*Undos
	Digest string // changes with the actions that would be taken back
}

// NewUndoPreview plans the undo of all that the filter selects, by the mail as it was last synchronized.
func NewUndoPreview(ctx context.Context, h *app.App, f safety.Filter) (*UndoPreview, error) {
	names, err := h.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	v := &UndoPreview{Undos: &Undos{Planned: true, Names: names, Examples: 5}}
	sum := sha256.New()
	for r, err := range h.Undoer.PlanAll(ctx, f, false) {
		if err != nil {
			return nil, err
		}
		v.Add(r)
		if r.Ending.Undone() {
			sum.Write([]byte(r.Action.ID + "\n"))
		}
	}
	v.Digest = hex.EncodeToString(sum.Sum(nil)[:16])
	return v, nil
}
