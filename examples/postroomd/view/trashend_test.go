package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/undo"
)

// Gmail deletes what is in the trash after 30 days: until then an undo takes it out.
func TestAnUndoSaysUntilWhenGmailKeepsTheMail(t *testing.T) {
	name := func(id string) string { return id }
	out := undo.Report{Restored: postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"TRASH"}}}
	a := postroom.Action{Type: postroom.Trash, ExecutedAt: time.Now().Add(-24 * time.Hour)}
	until := a.ExecutedAt.Add(30 * 24 * time.Hour)
	require.Contains(t, PlanText(a, out, name),
		"  Gmail keeps the message in the trash until "+until.UTC().Format(time.DateOnly)+", and then deletes it\n")
	require.NotContains(t, UndoText(out, name), "Gmail keeps", "it is out of the trash")

	archived := undo.Report{Restored: postroom.LabelChange{Add: []string{"INBOX"}}}
	require.NotContains(t, PlanText(a, archived, name), "Gmail keeps")
	a.ExecutedAt = time.Now().Add(-31 * 24 * time.Hour)
	require.Contains(t, PlanText(a, out, name), "  Gmail deletes what is in the trash after 30 days: it may be gone\n")

	hint := postroom.UndoHint{InverseAction: postroom.Restore, Before: &postroom.Snapshot{LabelIDs: []string{"INBOX"}},
		After: &postroom.Snapshot{LabelIDs: []string{"TRASH"}}}
	a.State, a.UndoHint = postroom.ActionCompleted, &hint
	require.Regexp(t, "until Gmail deletes the message on "+a.ExecutedAt.Add(30*24*time.Hour).UTC().Format(time.DateOnly),
		describeUndo(a, app.LabelNames{}))

	planned := &Undos{Planned: true, Examples: 1}
	planned.Add(undo.Result{Action: a, Ending: undo.EndingRestored, Report: out})
	require.Contains(t, planned.text(), "it may be gone")
}
