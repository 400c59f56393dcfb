package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/undo"
)

// sampleResults are one or a few of each kind.
func sampleResults() (results []undo.Result) {
	add := func(n int, action postroom.ActionType, e undo.Ending, r undo.Report, err error) {
		for range n {
			a := postroom.Action{ID: fmt.Sprintf("01a2027b-5b05-759a-948b-%012d", len(results)), AccountID: "1", Type: action}
			results = append(results, undo.Result{Action: a, Ending: e, Report: r, Err: err})
		}
	}
	inbox, star := []string{"INBOX"}, []undo.Since{{LabelID: "STARRED", Added: true}}
	trash := []undo.Since{{LabelID: "TRASH", Added: true}}
	add(2, postroom.Trash, undo.EndingFailed, undo.Report{}, postroom.ErrMessageGone)
	add(12, postroom.Delete, undo.EndingRefused, undo.Report{}, undo.ErrIrreversible)
	add(1, postroom.Archive, undo.EndingRestored, undo.Report{Restored: postroom.LabelChange{Add: inbox}, LeftAlone: star}, nil)
	add(4, postroom.Archive, undo.EndingRestored, undo.Report{Restored: postroom.LabelChange{Add: inbox}}, nil)
	moved := undo.Report{Restored: postroom.LabelChange{Remove: []string{"Label_1"}}, Skipped: postroom.LabelChange{Add: inbox}, LeftAlone: trash}
	add(1, postroom.Move, undo.EndingPart, moved, nil)
	add(1, postroom.Archive, undo.EndingKept, undo.Report{Skipped: postroom.LabelChange{Add: inbox}, LeftAlone: trash}, nil)
	add(1, postroom.MarkRead, undo.EndingNothing, undo.Report{}, nil)
	add(1, postroom.Star, undo.EndingNothing, undo.Report{LeftAlone: []undo.Since{{LabelID: "STARRED"}}}, nil)
	add(1, postroom.CreateTask, undo.EndingHost, undo.Report{}, nil)
	add(1, postroom.Archive, undo.EndingWaiting, undo.Report{}, nil)
	add(1, postroom.Archive, undo.EndingOpen, undo.Report{}, nil)
	for i := range maxReasons + 2 {
		add(1, postroom.Unstar, undo.EndingFailed, undo.Report{}, fmt.Errorf("message %d is odd\x1b[31m", i))
	}
	return results
}

func TestTheOutcomesOfManyUndosRead(t *testing.T) {
	var out bytes.Buffer
	for _, planned := range []bool{true, false} {
		tally := &undoTally{planned: planned, examples: 2, names: labelNames{{"1", "Label_1"}: "Receipts"}}
		for _, r := range sampleResults() {
			tally.add(r)
		}
		require.NoError(t, tally.print(&out))
		fmt.Fprintf(&out, "=====\n%v\n=====\n", tally.fault())
	}
	golden(t, "undo.txt", out.String())
}

func TestUndosEndTheCommandAsTheyEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		endings []undo.Ending
		status  int
	}{
		"nothing":               {nil, 0},
		"all":                   {[]undo.Ending{undo.EndingRestored, undo.EndingKept}, 0},
		"some cannot":           {[]undo.Ending{undo.EndingRestored, undo.EndingRefused}, 0},
		"none can":              {[]undo.Ending{undo.EndingRefused, undo.EndingRefused}, exitUsage},
		"one failed":            {[]undo.Ending{undo.EndingRestored, undo.EndingFailed}, exitFailed},
		"none can but one does": {[]undo.Ending{undo.EndingRefused, undo.EndingWaiting}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tally := &undoTally{}
			for _, e := range tc.endings {
				tally.add(undo.Result{Ending: e})
			}
			status := 0
			if err := tally.fault(); err != nil {
				status = exitFailed
				if _, ok := errors.AsType[usage.Error](err); ok {
					status = exitUsage
				}
			}
			require.Equal(t, tc.status, status)
		})
	}
}

// A batch of rules apply, of which people have changed something since: the dry run says what the undo does, and the report what it
// did.
func TestTheDryRunOfABatchIsWhatItsUndoDoes(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1), letterNamed(2), letterNamed(3), letterNamed(4), letterNamed(5))
	runOnce(t, append(m.where, "--set", "paths.rules=")...)
	run := start(t, m.where...)
	run.ready()
	r := m.postroomd("rules", "apply", "--batch", "tea")
	require.Equal(t, 0, r.status, r.stderr)
	person := m.server.Person()
	list := idsOf(mailJSON(t, m.where...).Messages)
	require.NoError(t, person.Trash(t.Context(), list[0]))
	require.NoError(t, person.Delete(t.Context(), list[1]))
	require.NoError(t, person.MoveToInbox(t.Context(), list[2]))
	require.NoError(t, person.Star(t.Context(), list[3]))
	run.stop()
	runOnce(t, m.where...)

	undoJSON := func(status int, args ...string) (v struct {
		Actions []undoView
		Endings map[undo.Ending]int
	}) {
		t.Helper()
		r := m.postroomd(append([]string{"undo", "--batch", "tea", "--json"}, args...)...)
		require.Equal(t, status, r.status, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v), r.stdout)
		return v
	}
	planned := undoJSON(exitFailed, "--dry-run")
	require.Equal(t, map[undo.Ending]int{undo.EndingRestored: 2, undo.EndingKept: 1, undo.EndingNothing: 1, undo.EndingFailed: 1}, planned.Endings)
	require.Equal(t, map[undo.Ending]int{undo.EndingOpen: 5}, undoJSON(0, "--report").Endings)

	run = start(t, m.where...)
	run.ready()
	r = m.postroomd("undo", "--batch", "tea")
	require.Equal(t, exitFailed, r.status, r.stdout)
	require.Contains(t, r.stdout, "4 actions taken back, 1 not\n")
	require.Contains(t, r.stdout, "1 kept as it is")
	require.Contains(t, r.stdout, "1 failed: "+postroom.ErrMessageGone.Error())
	run.stop()
	reported := undoJSON(exitFailed, "--report")
	require.Equal(t, planned, reported)
}
