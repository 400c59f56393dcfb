package lessons

import (
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/learn"
)

// A vote is what the corrections of a message say so far. The zero vote says nothing; a vote with the zero act says
// that the message was to stay as it was.
type vote struct {
	act   learn.Act
	votes bool
}

// with is the vote after the person has said that the act is right. An act that is not learned says nothing.
func (v vote) with(act learn.Act) vote {
	if !act.Learnable() && act.Action != postroom.Trash {
		return v
	}
	return vote{act, true}
}

// without is the vote after the person has said that the act is wrong. What the person wanted in its place stays.
func (v vote) without(act learn.Act) vote {
	switch {
	case !act.Learnable() && act.Action != postroom.Trash:
		return v
	case v.votes && v.act != (learn.Act{}) && v.act != act:
		return v
	}
	return vote{learn.Act{}, true}
}

// after is the vote after a change by hand. Mail that is read before it is archived has done its work in the inbox:
// only mail that was put away unread is to be kept out of it.
func (v vote) after(c *Change) vote {
	unread := c.Labels.Has(postroom.LabelUnread)
	added := func(label string) bool { return slices.Contains(c.Change.Add, label) }
	removed := func(label string) bool { return slices.Contains(c.Change.Remove, label) }
	label := slices.IndexFunc(c.Change.Add, rules.IsLabelID)
	switch {
	case added(postroom.LabelTrash), added(postroom.LabelSpam):
		return vote{learn.Act{Action: postroom.Trash}, true}
	case label >= 0:
		v = vote{learn.Act{Action: postroom.ApplyLabel, Label: c.Change.Add[label]}, true}
		if !c.Labels.Has(postroom.LabelInbox) && (unread || leavesInbox(c.Proposed.Act)) {
			v.act.Action = postroom.Move
		}
		return v
	case slices.ContainsFunc(c.Change.Remove, func(l string) bool {
		return rules.IsLabelID(l) && (!v.votes || v.act == learn.Act{} || v.act.Label == l)
	}), removed(postroom.LabelStarred) && v.act.Action == postroom.Star:
		return vote{learn.Act{}, true}
	case added(postroom.LabelInbox) && v.votes && v.act.Action == postroom.Move:
		v.act.Action = postroom.ApplyLabel
		return v
	case added(postroom.LabelInbox):
		return vote{learn.Act{}, true}
	case removed(postroom.LabelInbox) && unread && v.votes && v.act.Action == postroom.ApplyLabel:
		v.act.Action = postroom.Move
		return v
	case removed(postroom.LabelInbox) && unread:
		return vote{learn.Act{Action: postroom.Archive}, true}
	case added(postroom.LabelStarred) && (!v.votes || v.act == learn.Act{}):
		return vote{learn.Act{Action: postroom.Star}, true}
	}
	return v
}

func leavesInbox(a learn.Act) bool { return a.Action == postroom.Move || a.Action == postroom.Archive }
