package view

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/undo"
)

func TestUndosFitTheTerminal(t *testing.T) {
	tally := &Undos{Planned: true, Examples: 2, Names: app.LabelNames{{AccountID: "1", ID: "Label_1"}: "Receipts"}}
	for _, r := range sampleResults() {
		tally.Add(r)
	}
	golden(t, "undo-narrow.txt", printer.WrapLines(tally.text(), 40))
}

// sampleResults are one or a few of each kind.
func sampleResults() (results []undo.Result) {
	add := func(n int, action postroom.ActionType, e undo.Ending, r undo.Report, err error) {
		for range n {
			a := postroom.Action{ID: fmt.Sprintf("01a2027b-5b05-759a-948b-%012d", len(results)), AccountID: "1", Type: action}
			results = append(results, undo.Result{Action: a, Ending: e, Report: r, Err: err})
		}
	}
	inbox, star := []string{"INBOX"}, []undo.ExternalChange{{LabelID: "STARRED", Added: true}}
	trash := []undo.ExternalChange{{LabelID: "TRASH", Added: true}}
	add(2, postroom.Trash, undo.EndingFailed, undo.Report{}, postroom.ErrMessageGone)
	add(12, postroom.Delete, undo.EndingRefused, undo.Report{}, undo.ErrIrreversible)
	add(1, postroom.Archive, undo.EndingRestored, undo.Report{Restored: postroom.LabelChange{Add: inbox},
		Preserved: star}, nil)
	add(4, postroom.Archive, undo.EndingRestored, undo.Report{Restored: postroom.LabelChange{Add: inbox}}, nil)
	moved := undo.Report{Restored: postroom.LabelChange{Remove: []string{"Label_1"}},
		Skipped: postroom.LabelChange{Add: inbox}, Preserved: trash}
	add(1, postroom.Move, undo.EndingPart, moved, nil)
	add(1, postroom.Archive, undo.EndingKept, undo.Report{Skipped: postroom.LabelChange{Add: inbox}, Preserved: trash},
		nil)
	add(1, postroom.MarkRead, undo.EndingNothing, undo.Report{}, nil)
	add(1, postroom.Star, undo.EndingNothing, undo.Report{Preserved: []undo.ExternalChange{{LabelID: "STARRED"}}}, nil)
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
		tally := &Undos{Planned: planned, Examples: 2, Names: app.LabelNames{{AccountID: "1", ID: "Label_1"}: "Receipts"}}
		for _, r := range sampleResults() {
			tally.Add(r)
		}
		require.NoError(t, tally.Print(&out))
		fmt.Fprintf(&out, "=====\n%v\n=====\n", tally.Fault())
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
		"none can":              {[]undo.Ending{undo.EndingRefused, undo.EndingRefused}, 2},
		"one failed":            {[]undo.Ending{undo.EndingRestored, undo.EndingFailed}, 1},
		"none can but one does": {[]undo.Ending{undo.EndingRefused, undo.EndingWaiting}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tally := &Undos{}
			for _, e := range tc.endings {
				tally.Add(undo.Result{Ending: e})
			}
			status := 0
			if err := tally.Fault(); err != nil {
				status = 1
				if _, ok := errors.AsType[usage.Error](err); ok {
					status = 2
				}
			}
			require.Equal(t, tc.status, status)
		})
	}
}
