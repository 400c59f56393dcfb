package view

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// UndoText says what an undo changes, and what it leaves as it is.
func UndoText(r undo.Report, name func(id string) string) string {
	var b strings.Builder
	line := func(what string, labels []string) {
		for _, l := range labels {
			fmt.Fprintf(&b, "  %s: %s\n", what, name(l))
		}
	}
	line("put back", r.Restored.Add)
	line("taken off", r.Restored.Remove)
	line("not put back, because it has been changed since", r.Skipped.Add)
	line("not taken off, because it has been changed since", r.Skipped.Remove)
	for _, s := range r.Preserved {
		what := "left alone, removed since by somebody"
		if s.Added {
			what = "left alone, added since by somebody"
		}
		line(what, []string{s.LabelID})
	}
	if b.Len() == 0 {
		return "  there was nothing to restore: the message is as without the action\n"
	}
	return b.String()
}

// trashTime is how long Gmail keeps what is in the trash.
const trashTime = 30 * 24 * time.Hour

// PlanText says what the undo of an action would change, as [UndoText] does of one that is done, and until when Gmail
// keeps a message that the action has thrown into the trash.
func PlanText(a postroom.Action, r undo.Report, name func(id string) string) string {
	text := UndoText(r, name)
	if !slices.Contains(r.Restored.Remove, postroom.LabelTrash) || a.ExecutedAt.IsZero() {
		return text
	}
	until := a.ExecutedAt.Add(trashTime)
	if time.Now().After(until) {
		return text + "  Gmail deletes what is in the trash after 30 days: it may be gone\n"
	}
	return text + "  Gmail keeps the message in the trash until " + until.UTC().Format(time.DateOnly) +
		", and then deletes it\n"
}

// An UndoPreview is what taking back all that a filter selects would do.
type UndoPreview struct {
	*Undos
	Digest string // changes with the actions that would be taken back
}

// undoExamples bounds the actions of each group that are shown one by one.
const undoExamples = 20

// NewUndoPreview plans the undo of all that the filter selects, by the mail as it was last synchronized.
func NewUndoPreview(ctx context.Context, h *app.App, f safety.Filter) (*UndoPreview, error) {
	names, err := h.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	v := &UndoPreview{Undos: &Undos{Planned: true, Names: names, Examples: undoExamples}}
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
	return v, v.ReadMail(ctx, h)
}
