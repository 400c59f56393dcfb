package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// maxModelSnooze is the longest snooze that a model may decide alone.
const maxModelSnooze = 14 * 24 * time.Hour

// AloneDoubts asks about an action that models may not carry out alone.
func (g *Gate) AloneDoubts(d postroom.Decision, now time.Time) []Doubt {
	kind, ok := g.kinds.Kind(d.Action)
	switch {
	case !ok || kind.Danger == postroom.Dangerous:
		return nil // the check of danger asks
	case !slices.Contains(g.policy.ModelUnattended, d.Action):
		return []Doubt{{OverrideModel,
			fmt.Sprintf("a model does not %s alone", strings.ReplaceAll(string(d.Action), "_", " "))}}
	case kind.Effect == nil:
		return nil
	}
	if d.Action == postroom.Snooze {
		if until, err := postroom.SnoozeUntil(d.Parameters, now); err != nil || until.Sub(now) > maxModelSnooze {
			return []Doubt{{OverrideModel, "a model does not snooze for more than two weeks alone"}}
		}
	}
	if label := wrongPlace(d.Action, kind.Effect(d.Parameters).Change); label != "" {
		return []Doubt{{OverrideModel, fmt.Sprintf("a model does not change %s alone", label)}}
	}
	return nil
}

// wrongPlace returns the system label inbox, trash or spam if the action adds or removes it as a label. Archive,
// trash and spam have actions of their own, which are counted. Nothing may take a message out of spam.
func wrongPlace(action postroom.ActionType, change postroom.LabelChange) string {
	for _, place := range []string{postroom.LabelInbox, postroom.LabelTrash, postroom.LabelSpam} {
		moves := action == postroom.Move || action == postroom.Snooze
		named := action == postroom.ApplyLabel || action == postroom.RemoveLabel || moves && place != postroom.LabelInbox
		touches := func(label string) bool { return strings.EqualFold(label, place) }
		if (named || place == postroom.LabelSpam) &&
			(slices.ContainsFunc(change.Add, touches) || slices.ContainsFunc(change.Remove, touches)) {
			return place
		}
	}
	return ""
}

// Hiding are the kinds that models may carry out alone and that take a message out of the inbox, and the host's own
// kinds, which may do so.
func (g *Gate) Hiding() []postroom.ActionType {
	var types []postroom.ActionType
	for _, t := range g.policy.ModelUnattended {
		switch _, standard := postroom.StandardKind(t); {
		case t == postroom.Archive, t == postroom.Move, t == postroom.Snooze, t == postroom.Trash, !standard:
			types = append(types, t)
		}
	}
	return types
}

// NoticeDoubts asks about an action that hides a notice of a program from its reader.
func (g *Gate) NoticeDoubts(d postroom.Decision) []Doubt {
	if !g.hides(d) {
		return nil
	}
	return []Doubt{{OverrideNotice, "a model does not hide the notice of a program to you, such as that of a bank"}}
}

// hides reports whether an action takes a message out of the inbox, marks it as read, or may do so.
func (g *Gate) hides(d postroom.Decision) bool {
	if _, standard := postroom.StandardKind(d.Action); !standard {
		return true
	}
	if slices.Contains([]postroom.ActionType{postroom.Archive, postroom.Move, postroom.Snooze, postroom.MarkRead,
		postroom.Trash}, d.Action) {
		return true
	}
	kind, ok := g.kinds.Kind(d.Action)
	return ok && kind.Effect != nil &&
		slices.Contains(kind.Effect(d.Parameters).Change.Remove, postroom.LabelUnread)
}
