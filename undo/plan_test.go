package undo

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety"
)

func image(labels ...string) postroom.Snapshot { return postroom.NewSnapshot(labels) }

// plan is that of the only action of a message.
func plan(before, after, now postroom.Snapshot) Report {
	hint := &postroom.UndoHint{Before: &before, After: &after}
	return replay([]safety.Past{{Action: postroom.Action{ID: "only", UndoHint: hint}}}, nil).plan("only", now)
}

func TestPlan(t *testing.T) {
	type change = postroom.LabelChange
	for name, tc := range map[string]struct {
		before, after, now postroom.Snapshot
		restored, skipped  change
		left               []ExternalChange
	}{
		"archive": {
			before: image("INBOX", "UNREAD"), after: image("UNREAD"), now: image("UNREAD"),
			restored: change{Add: []string{"INBOX"}},
		},
		"archive of a message that was not in the inbox": {
			before: image("Label_1"), after: image("Label_1"), now: image("Label_1"),
		},
		"a label that was there before stays": {
			before: image("INBOX", "Label_1"), after: image("INBOX", "Label_1"), now: image("INBOX", "Label_1"),
		},
		"move": {
			before: image("INBOX"), after: image("Label_1"), now: image("Label_1"),
			restored: change{Add: []string{"INBOX"}, Remove: []string{"Label_1"}},
		},
		"trash": {
			before: image("INBOX"), after: image("TRASH"), now: image("TRASH"),
			restored: change{Add: []string{"INBOX"}, Remove: []string{"TRASH"}},
		},
		"what the user did since is left alone": {
			before: image("INBOX", "UNREAD"), after: image("UNREAD"), now: image("STARRED"),
			restored: change{Add: []string{"INBOX"}},
			left:     []ExternalChange{{"STARRED", true}, {"UNREAD", false}},
		},
		"the user has undone it already": {
			before: image("INBOX"), after: image("Label_1"), now: image("INBOX"),
			left: []ExternalChange{{"INBOX", true}, {"Label_1", false}},
		},
		"archived, and thrown away since": {
			before: image("INBOX"), after: image(), now: image("TRASH"),
			skipped: change{Add: []string{"INBOX"}},
			left:    []ExternalChange{{"TRASH", true}},
		},
		"moved, and thrown away since: the label still goes": {
			before: image("INBOX"), after: image("Label_1"), now: image("Label_1", "TRASH"),
			restored: change{Remove: []string{"Label_1"}}, skipped: change{Add: []string{"INBOX"}},
			left: []ExternalChange{{"TRASH", true}},
		},
		"thrown away, and called spam since": {
			before: image("INBOX"), after: image("TRASH"), now: image("SPAM", "TRASH"),
			skipped: change{Add: []string{"INBOX"}, Remove: []string{"TRASH"}},
			left:    []ExternalChange{{"SPAM", true}},
		},
		"restored from the trash, and thrown away again": {
			before: image("TRASH"), after: image("INBOX"), now: image("TRASH"),
			left: []ExternalChange{{"TRASH", true}, {"INBOX", false}},
		},
		"marked read in the inbox, archived since": {
			before: image("INBOX", "UNREAD"), after: image("INBOX"), now: image(),
			restored: change{Add: []string{"UNREAD"}},
			left:     []ExternalChange{{"INBOX", false}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.left == nil {
				tc.left = []ExternalChange{}
			}
			require.Equal(t, Report{Restored: tc.restored, Skipped: tc.skipped, Preserved: tc.left},
				plan(tc.before, tc.after, tc.now))
		})
	}
}

var allLabels = []string{"INBOX", "SPAM", "TRASH", "UNREAD", "STARRED", "Label_1", "Label_2"}

func drawImage(t *rapid.T, name string) postroom.Snapshot {
	return image(rapid.SliceOfDistinct(rapid.SampledFrom(allLabels), rapid.ID).Draw(t, name)...)
}

func requireImage(t require.TestingT, want, got postroom.Snapshot) {
	require.True(t, slices.Equal(want.LabelIDs, got.LabelIDs), "want %v, got %v", want.LabelIDs, got.LabelIDs)
}

// expected is the rule, label by label, as one would tell it to a person.
func expected(before, after, now postroom.Snapshot) postroom.Snapshot {
	elsewhere := slices.ContainsFunc(places, func(l string) bool { return now.Has(l) != after.Has(l) })
	var want []string
	for _, l := range allLabels {
		untouched := now.Has(l) == after.Has(l)
		if isPlace(l) {
			untouched = !elsewhere
		}
		if untouched && before.Has(l) || !untouched && now.Has(l) {
			want = append(want, l)
		}
	}
	return image(want...)
}

func TestPlanRestoresExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after, now := drawImage(t, "before"), drawImage(t, "after"), drawImage(t, "now")
		r := plan(before, after, now)
		requireImage(t, expected(before, after, now), now.Apply(r.Restored))
		require.True(t, plan(before, after, after).Skipped.IsZero())
		requireImage(t, before, after.Apply(plan(before, after, after).Restored))
		for _, s := range r.Preserved {
			require.Equal(t, s.Added, now.Has(s.LabelID))
			require.NotEqual(t, s.Added, after.Has(s.LabelID))
		}
	})
}

// TestResumeEndsWhereThePlanWouldHave: whatever part of the plan the attempt before has carried out, the rest brings
// the message where the whole would have, and the report is the same.
func TestResumeEndsWhereThePlanWouldHave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after, seen := drawImage(t, "before"), drawImage(t, "after"), drawImage(t, "seen")
		first := plan(before, after, seen)
		done := postroom.LabelChange{Add: drawPart(t, first.Restored.Add), Remove: drawPart(t, first.Restored.Remove)}
		now := seen.Apply(done)

		rest, report := resume(first, seen, now)
		requireImage(t, seen.Apply(first.Restored), now.Apply(rest))
		requireImage(t, seen.Apply(first.Restored), seen.Apply(report.Restored))
		require.True(t, slices.Equal(first.Preserved, report.Preserved))
		require.True(t, slices.Equal(first.Skipped.Add, report.Skipped.Add) &&
			slices.Equal(first.Skipped.Remove, report.Skipped.Remove))
	})
}

func drawPart(t *rapid.T, labels []string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return !rapid.Bool().Draw(t, "done "+l) })
}

// TestResumeLeavesAloneWhatChangedBetweenAttempts: the user may be quicker than a retry.
func TestResumeLeavesAloneWhatChangedBetweenAttempts(t *testing.T) {
	before, after := image("INBOX"), image("Label_1")
	first := plan(before, after, after)
	rest, report := resume(first, after, image("Label_1", "STARRED", "TRASH"))
	require.Equal(t, postroom.LabelChange{Remove: []string{"Label_1"}}, rest)
	require.Equal(t, Report{
		Restored:  postroom.LabelChange{Remove: []string{"Label_1"}},
		Skipped:   postroom.LabelChange{Add: []string{"INBOX"}},
		Preserved: []ExternalChange{{"STARRED", true}, {"TRASH", true}},
	}, report)
}
