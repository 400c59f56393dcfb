package undo_test

import (
	"errors"
	"maps"
	"math"
	"path"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// A drama is what has happened to a few messages: what rules did, what people did before, between and after it, and
// what was undone already.
type drama struct {
	*house
	t        *rapid.T
	label    string // the name of one that people make and delete
	labelID  string
	rule     string
	messages []*postroom.Message
	actions  []string // of both rules
}

// TestWhatIsPlannedForABatchIsWhatItDoes: for each action the plan has the labels and the reasons that the report has
// afterwards.
func TestWhatIsPlannedForABatchIsWhatItDoes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		h := newHouseIn(t, db, nil)
		// a dispatcher starts in 25 ms there, and each case starts ten
		left := map[string]int{"sqlite": math.MaxInt, "postgres": 20}[path.Base(t.Name())]
		rapid.Check(t, func(t *rapid.T) {
			if left--; left >= 0 {
				d := &drama{house: h, t: t, label: uuid.NewString(), rule: uuid.NewString()}
				d.begin()
				d.play()
				d.sync()
				d.undoTogether()
			}
		})
	})
}

// play lets a few things happen, and at the end perhaps some that nothing can follow.
func (d *drama) play() {
	scenes := []func(){d.act, d.hand, d.act, d.hand, d.undoOne, d.night}
	for range rapid.IntRange(1, 9).Draw(d.t, "scenes") {
		scenes[rapid.IntRange(0, len(scenes)-1).Draw(d.t, "scene")]()
	}
	if rapid.Bool().Draw(d.t, "delete label") {
		d.deleteLabel()
	}
	switch rapid.IntRange(0, 9).Draw(d.t, "last") {
	case 4:
		d.delete()
	case 5:
	}
}

func (d *drama) begin() {
	require.NoError(d.t, d.server.CreateLabels(d.Context(), d.label))
	d.sync()
	var ok bool
	var err error
	d.labelID, ok, err = d.store.LabelID(d.Context(), d.account, d.label)
	require.NoError(d.t, err)
	require.True(d.t, ok)
	for range rapid.IntRange(1, 2).Draw(d.t, "messages") {
		id, m := d.letter("a letter")
		require.NoError(d.t, d.server.Person().Label(d.Context(), d.label, id))
		d.messages = append(d.messages, m)
	}
}

func (d *drama) message() *postroom.Message {
	return d.messages[rapid.IntRange(0, len(d.messages)-1).Draw(d.t, "message")] // a drawn message would fill the log
}

// act carries out an action of the rule that is undone, or of another.
func (d *drama) act() {
	kinds := []postroom.ActionType{
		postroom.Archive, postroom.MarkRead, postroom.MarkUnread, postroom.Star, postroom.Unstar, postroom.Trash,
		postroom.Restore, postroom.Snooze,
		postroom.ApplyLabel, postroom.RemoveLabel, postroom.Move, postroom.None, postroom.Delete,
	}
	i := rapid.IntRange(0, len(kinds)-1).Draw(d.t, "action")
	kind, label := kinds[i], ""
	if 8 <= i && i < 11 {
		label = d.labelID
	}
	rule := rapid.SampledFrom([]string{d.rule, d.rule, "another"}).Draw(d.t, "rule")
	d.actions = append(d.actions, d.decideBy(rule, d.message(), kind, label))
	d.run()
}

// hand is a person's. What cannot be done to a message that is gone is not done.
func (d *drama) hand() {
	p, id, ctx := d.server.Person(), d.message().ProviderID, d.Context()
	hands := map[string]func() error{
		"star": func() error { return p.Star(ctx, id) }, "unstar": func() error { return p.Unstar(ctx, id) },
		"read": func() error { return p.Read(ctx, id) }, "trash": func() error { return p.Trash(ctx, id) },
		"archive": func() error { return p.Archive(ctx, id) }, "inbox": func() error { return p.MoveToInbox(ctx, id) },
		"spam":  func() error { return p.Spam(ctx, id) },
		"label": func() error { return p.Label(ctx, d.label, id) }, "unlabel": func() error { return p.Unlabel(ctx, d.label, id) },
	}
	_ = hands[rapid.SampledFrom(slices.Sorted(maps.Keys(hands))).Draw(d.t, "hand")]()
}

// undoOne undoes an action, or an undo, if it can be undone.
func (d *drama) undoOne() {
	if len(d.actions) == 0 {
		return
	}
	id := rapid.SampledFrom(d.actions).Draw(d.t, "undone")
	if undo, err := d.ledger.LiveUndo(d.Context(), id); err == nil && undo != nil &&
		undo.State == postroom.ActionCompleted {
		id = undo.ID
	}
	if _, err := d.undoer.Request(d.Context(), id); err == nil {
		d.run()
	}
}

// night ends what sleeps.
func (d *drama) night() {
	d.morning()
	require.NoError(d.t, d.queue.Pause(d.Context(), naps))
}

// delete deletes a message, unless an action has.
func (d *drama) delete() { _ = d.server.Person().Delete(d.Context(), d.message().ProviderID) }

func (d *drama) deleteLabel() {
	require.NoError(d.t, d.server.Person().DeleteLabel(d.Context(), d.label))
}

// sync reads what people have done.
func (d *drama) sync() {
	_, err := d.queue.EnqueueMany(d.Context(), []queue.NewJob{gmail.NewLabelsSyncJob(d.account),
		gmail.NewHistorySyncJob(d.account, 0)})
	require.NoError(d.t, err)
	d.run()
}

// undoTogether plans, undoes and compares.
func (d *drama) undoTogether() {
	f := safety.Filter{Rule: d.rule}
	planned := collect(d.t, d.undoer.PlanAll(d.Context(), f, false))
	for _, p := range planned {
		d.t.Logf("%s: %s %+v %v", p.Action.Type, p.Ending, p.Report, p.Err)
	}
	want := make(map[string]postroom.Snapshot)
	for _, m := range d.messages {
		if own, err := d.server.Message(d.Context(), m.ProviderID); err == nil {
			want[m.ID] = postroom.NewSnapshot(own.Labels)
		}
	}
	requested, err := d.undoer.RequestAll(d.Context(), f, false)
	require.NoError(d.t, err)
	workers := rapid.SampledFrom([]int{1, 8}).Draw(d.t, "workers")
	d.runWith(workers)

	var asked []string
	for _, p := range planned {
		if p.Ending == undo.EndingRefused {
			require.ErrorIs(d.t, requested.Refused[p.Action.ID], p.Err)
			continue
		}
		asked = append(asked, p.Action.ID)
		got, err := d.undoer.Result(d.Context(), p.Action.ID)
		require.NoError(d.t, err)
		if workers == 1 {
			require.Equal(d.t, p.Ending, got.Ending, "%s: %v", p.Action.ID, got.Err)
			require.Equal(d.t, p.Report, got.Report)
			require.Equal(d.t, errors.Is(p.Err, postroom.ErrMessageGone), errors.Is(got.Err, postroom.ErrMessageGone))
		}
		want[p.Action.MessageID] = want[p.Action.MessageID].Apply(d.named(p.Report.Restored))
	}
	require.Equal(d.t, asked, requested.Requested)
	for _, m := range d.messages {
		if own, err := d.server.Message(d.Context(), m.ProviderID); err == nil {
			requireLabels(d.t, want[m.ID], own.Labels)
		}
	}
}

// named is a change with the names of the labels, as people see them.
func (d *drama) named(c postroom.LabelChange) postroom.LabelChange {
	known, err := d.store.Labels(d.Context(), d.account)
	require.NoError(d.t, err)
	name := func(ids []string) (names []string) {
		for _, l := range known {
			if slices.Contains(ids, l.ID) {
				names = append(names, l.Name)
			}
		}
		return names
	}
	return postroom.LabelChange{Add: name(c.Add), Remove: name(c.Remove)}
}

func requireLabels(t *rapid.T, want postroom.Snapshot, got []string) {
	require.Equal(t, want.LabelIDs, postroom.NewSnapshot(got).LabelIDs)
}

func collect(t require.TestingT, results func(yield func(undo.Result, error) bool)) (all []undo.Result) {
	for r, err := range results {
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}
