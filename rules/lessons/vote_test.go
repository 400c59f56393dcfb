package lessons

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/rules/learn"
)

// by is what a person says who has changed labels, one change after the other, of a message whose labels are given.
func by(labels []string, proposed learn.Act, changes ...postroom.LabelChange) (v vote) {
	snapshot := postroom.NewSnapshot(labels)
	for _, c := range changes {
		snapshot = snapshot.Apply(c)
		v = v.after(&Change{Change: c, Labels: snapshot, Proposed: Decided{Act: proposed}})
	}
	return v
}

func add(labels ...string) postroom.LabelChange    { return postroom.LabelChange{Add: labels} }
func remove(labels ...string) postroom.LabelChange { return postroom.LabelChange{Remove: labels} }

func TestWhatAPersonSaysByHand(t *testing.T) {
	const one, two = "Label_1", "Label_2"
	unread, read := []string{"INBOX", "UNREAD"}, []string{"INBOX"}
	moved := postroom.LabelChange{Add: []string{one}, Remove: []string{"INBOX"}}
	act := func(kind postroom.ActionType, label string) vote {
		return vote{learn.Act{Action: kind, Label: label}, true}
	}
	left := vote{votes: true}
	for name, c := range map[string]struct{ got, want vote }{
		"labelled":                    {by(unread, learn.Act{}, add(one)), act(postroom.ApplyLabel, one)},
		"moved unread":                {by(unread, learn.Act{}, moved), act(postroom.Move, one)},
		"moved unread in two steps":   {by(unread, learn.Act{}, add(one), remove("INBOX")), act(postroom.Move, one)},
		"moved after reading":         {by(read, learn.Act{}, moved), act(postroom.ApplyLabel, one)},
		"archived unread":             {by(unread, learn.Act{}, remove("INBOX")), act(postroom.Archive, "")},
		"archived after reading":      {by(read, learn.Act{}, remove("INBOX")), vote{}},
		"read at once with archiving": {by(unread, learn.Act{}, remove("INBOX", "UNREAD")), vote{}},
		"only read":                   {by(unread, learn.Act{}, remove("UNREAD")), vote{}},
		"starred":                     {by(read, learn.Act{}, add("STARRED")), act(postroom.Star, "")},
		"starred, and not":            {by(read, learn.Act{}, add("STARRED"), remove("STARRED")), left},
		"labelled, starred":           {by(read, learn.Act{}, add(one), add("STARRED")), act(postroom.ApplyLabel, one)},
		"labelled, and not":           {by(read, learn.Act{}, add(one), remove(one)), left},
		"label of a program removed":  {by([]string{"INBOX", one}, learn.Act{}, remove(one)), left},
		"moved, and back":             {by(unread, learn.Act{}, moved, add("INBOX")), act(postroom.ApplyLabel, one)},
		"a program's archive undone":  {by(nil, learn.Act{Action: postroom.Archive}, add("INBOX")), left},
		"a program's move corrected": {by([]string{one}, learn.Act{Action: postroom.Move, Label: one},
			postroom.LabelChange{Add: []string{two}, Remove: []string{one}}), act(postroom.Move, two)},
		"a program's label corrected": {by([]string{"INBOX", one}, learn.Act{Action: postroom.ApplyLabel, Label: one},
			postroom.LabelChange{Add: []string{two}, Remove: []string{one}}), act(postroom.ApplyLabel, two)},
		"thrown away": {by(read, learn.Act{}, moved, add("TRASH")), act(postroom.Trash, "")},
		"spam":        {by(read, learn.Act{}, add("SPAM")), act(postroom.Trash, "")},
	} {
		require.Equal(t, c.want, c.got, name)
	}
}

func TestWhatAPersonSaysOfAnAction(t *testing.T) {
	move, other := learn.Act{Action: postroom.Move, Label: "Label_1"}, learn.Act{Action: postroom.Move, Label: "Label_2"}
	send := learn.Act{Action: postroom.Forward}
	require.Equal(t, vote{move, true}, vote{}.with(move))
	require.Equal(t, vote{votes: true}, vote{}.without(move))
	require.Equal(t, vote{votes: true}, vote{move, true}.without(move))
	require.Equal(t, vote{other, true}, vote{other, true}.without(move), "what the person wanted stays")
	require.Equal(t, vote{move, true}, vote{move, true}.without(send))
	require.Equal(t, vote{}, vote{}.with(send), "an approved forward is no rule")
}

// A correction is in bulk if more than 20 are within some 60 seconds that it is in.
func TestInBulk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []feedbackRow
		at := now
		for range rapid.IntRange(0, 80).Draw(t, "n") {
			at = at.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 2, 3, 5, 20, 61}).Draw(t, "gap")) * time.Second)
			rows = append(rows, feedbackRow{CreatedAt: dbtime.Of(at)})
		}
		got := inBulk(rows)
		for i := range rows {
			want := false
			for first := range rows {
				n, has := 0, false
				for j := range rows {
					if j >= first && rows[j].CreatedAt.Sub(rows[first].CreatedAt.Time) <= bulkWithin {
						n++
						has = has || i == j
					}
				}
				want = want || has && n > bulkActs
			}
			require.Equal(t, want, got[i], "correction %d", i)
		}
	})
}
