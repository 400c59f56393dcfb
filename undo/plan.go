package undo

import (
	"slices"

	"github.com/postroom-go/postroom"
)

// A Report describes what an undo changes at the message, and what it leaves unchanged.
type Report struct {
	// Restored is the change that undoes the action.
	Restored postroom.LabelChange `json:"restored"`

	// Skipped is the part that the undo does not restore because a person, or a later action, has changed it since: a
	// message that the user has thrown away stays in the trash, and does not come back into the inbox.
	Skipped postroom.LabelChange `json:"skipped"`

	// Preserved lists the changes since the action that are of no other action. The undo keeps them.
	Preserved []ExternalChange `json:"left_alone"`
}

// An ExternalChange is one label that was added to the message or removed from it since the action, most likely by
// the user.
type ExternalChange struct {
	LabelID string `json:"label_id"`
	Added   bool   `json:"added"` // false: removed
}

// places are the labels that say where a message is. It is in one place, or archived; the labels change together.
var places = []string{postroom.LabelInbox, postroom.LabelSpam, postroom.LabelTrash}

func isPlace(labelID string) bool { return slices.Contains(places, labelID) }

// leave notes the changes since the action.
func (r *Report) leave(since postroom.LabelChange) {
	for _, l := range since.Add {
		r.Preserved = append(r.Preserved, ExternalChange{LabelID: l, Added: true})
	}
	for _, l := range since.Remove {
		r.Preserved = append(r.Preserved, ExternalChange{LabelID: l})
	}
}

// merge returns the report of a change that takes a message from the snapshot after to before if its snapshot is now.
// It applies the difference between before and after, label by label, and nothing else.
func merge(before, after, now postroom.Snapshot) Report {
	back := before.ChangeFrom(after)
	r := Report{Preserved: []ExternalChange{}}
	r.leave(now.ChangeFrom(after))
	moved := slices.ContainsFunc(r.Preserved, func(s ExternalChange) bool {
		return isPlace(s.LabelID) && !touches(back, s.LabelID)
	})

	for _, l := range back.Add {
		switch {
		case now.Has(l): // it is there again already
		case moved && isPlace(l):
			r.Skipped.Add = append(r.Skipped.Add, l)
		default:
			r.Restored.Add = append(r.Restored.Add, l)
		}
	}
	for _, l := range back.Remove {
		switch {
		case !now.Has(l): // it is removed already
		case moved && isPlace(l):
			r.Skipped.Remove = append(r.Skipped.Remove, l)
		default:
			r.Restored.Remove = append(r.Restored.Remove, l)
		}
	}
	return r
}

// resume returns the rest of a plan that was made for the snapshot seen and may have been carried out, in part or
// whole, if the message now has the snapshot now. It returns the remaining change and the updated report.
func resume(first Report, seen, now postroom.Snapshot) (postroom.LabelChange, Report) {
	rest := merge(seen.Apply(first.Restored), seen, now)
	r := Report{
		Restored:  without(first.Restored, rest.Skipped),
		Skipped:   join(first.Skipped, rest.Skipped),
		Preserved: slices.Clone(first.Preserved),
	}
	for _, s := range rest.Preserved {
		// A label of the plan itself was changed by the attempt before.
		if !touches(first.Restored, s.LabelID) {
			r.Preserved = append(r.Preserved, s)
		}
	}
	return rest.Restored, r
}

func touches(c postroom.LabelChange, labelID string) bool {
	return slices.Contains(c.Add, labelID) || slices.Contains(c.Remove, labelID)
}

func without(c, other postroom.LabelChange) postroom.LabelChange {
	return postroom.LabelChange{Add: subtract(c.Add, other.Add), Remove: subtract(c.Remove, other.Remove)}
}

func join(c, other postroom.LabelChange) postroom.LabelChange {
	return postroom.LabelChange{Add: slices.Concat(c.Add, other.Add), Remove: slices.Concat(c.Remove, other.Remove)}
}

// subtract returns nil if nothing is left.
func subtract(labels, other []string) (rest []string) {
	for _, l := range labels {
		if !slices.Contains(other, l) {
			rest = append(rest, l)
		}
	}
	return rest
}
