package undo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety"
)

// Reverses reports whether a decision about a message would reverse what a person has changed by hand, or do again
// what was undone or rejected, or what waits or is done for good, when the message has the labels that msg names. A
// change counts as made by hand if no action of the ledger explains it; see also [Config].ByHand. A decision reverses
// it if it takes away a label that was added, or adds one that was removed; to throw a message away also reverses that
// it was filed under a label, starred, or moved into the inbox.
func (u *Undoer) Reverses(ctx context.Context, msg *postroom.Message, d *postroom.Decision) (bool, error) {
	if repeats, err := u.repeats(ctx, msg, d); err != nil || repeats {
		return repeats, err
	}
	past, err := u.ledger.History(ctx, msg.AccountID, msg.ID)
	if err != nil {
		return false, err
	}
	planned := u.planned(d)
	for _, p := range undone(past) {
		if p.Type == d.Action || p.UndoHint != nil && sharesPart(planned, p.UndoHint.Own()) {
			return true, nil
		}
	}
	now := postroom.NewSnapshot(msg.LabelIDs)
	var byHand postroom.LabelChange
	if u.byHand != nil {
		if byHand, err = u.byHand(ctx, msg.ID); err != nil {
			return false, fmt.Errorf("undo: %w", err)
		}
	}
	if len(past) > 0 {
		ended, err := u.endedByThemselves(ctx, past, now)
		if err != nil {
			return false, err
		}
		h := replay(past, ended)
		h.observe(now)
		byHand = join(byHand, h.byOthers())
	}
	return reverses(planned, byHand, now), nil
}

// repeats reports whether the same action of the message waits or is under way, a person has rejected it, or it is done
// and cannot be taken back. Of what can be, the labels say whether it is still so.
func (u *Undoer) repeats(ctx context.Context, msg *postroom.Message, d *postroom.Decision) (bool, error) {
	states := []postroom.ActionState{postroom.ActionPendingApproval, postroom.ActionQueued, postroom.ActionExecuting,
		postroom.ActionRejected}
	kind, known := u.kinds.Kind(d.Action)
	if !known {
		return false, nil
	}
	if !kind.Reversible() {
		states = append(states, postroom.ActionCompleted)
	}
	list, err := u.ledger.Actions(ctx, safety.Filter{AccountID: msg.AccountID, MessageID: msg.ID,
		Types: []postroom.ActionType{d.Action}, States: states, Limit: 100})
	if err != nil {
		return false, err
	}
	planned, err := json.Marshal(d.Parameters)
	if err != nil {
		return false, fmt.Errorf("undo: %w", err)
	}
	for _, e := range list {
		if e.Decision.Decision.Key == d.Key && d.Key != "" {
			continue // it is this decision, of a batch that is being finished
		}
		same, err := json.Marshal(e.Action.Parameters)
		if err != nil {
			return false, fmt.Errorf("undo: %w", err)
		}
		if bytes.Equal(same, planned) || len(e.Action.Parameters) == 0 && len(d.Parameters) == 0 {
			return true, nil
		}
	}
	return false, nil
}

// planned returns the change of labels that a decision would make. What is thrown away leaves the inbox.
func (u *Undoer) planned(d *postroom.Decision) (change postroom.LabelChange) {
	kind, ok := u.kinds.Kind(d.Action)
	switch {
	case ok && kind.Effect != nil:
		change = kind.Effect(d.Parameters).Change
	case d.Action == postroom.Delete:
		change.Add = []string{postroom.LabelTrash}
	}
	if throwsAway(change) {
		change.Remove = append(slices.Clone(change.Remove), postroom.LabelInbox)
	}
	return change
}

func throwsAway(c postroom.LabelChange) bool {
	return slices.Contains(c.Add, postroom.LabelTrash) || slices.Contains(c.Add, postroom.LabelSpam)
}

// reverses reports whether a planned change is against one that was made by hand, of which the labels now show what
// is still so.
func reverses(planned, byHand postroom.LabelChange, now postroom.Snapshot) bool {
	for _, l := range byHand.Add {
		if now.Has(l) && (slices.Contains(planned.Remove, l) || throwsAway(planned) && isKept(l)) {
			return true
		}
	}
	return slices.ContainsFunc(byHand.Remove, func(l string) bool {
		return !now.Has(l) && slices.Contains(planned.Add, l)
	})
}

// isKept reports whether a person who adds the label keeps the message.
func isKept(label string) bool {
	return label == postroom.LabelStarred || strings.HasPrefix(label, "Label_")
}

func sharesPart(a, b postroom.LabelChange) bool {
	return slices.ContainsFunc(a.Add, func(l string) bool { return slices.Contains(b.Add, l) }) ||
		slices.ContainsFunc(a.Remove, func(l string) bool { return slices.Contains(b.Remove, l) })
}

// undone returns the past actions that are undone now: the undo of an undo does an action again.
func undone(past []safety.Past) (list []safety.Past) {
	undoes, isUndone := map[string]string{}, map[string]bool{}
	for i := range past {
		p := &past[i]
		if p.Undoes == "" {
			continue
		}
		undoes[p.ID] = p.Undoes
		if original, again := undoes[p.Undoes]; again {
			isUndone[original] = false
		} else {
			isUndone[p.Undoes] = true
		}
	}
	for i := range past {
		if isUndone[past[i].ID] {
			list = append(list, past[i])
		}
	}
	return list
}

// byOthers returns the labels that neither an action nor an end has changed last. The first layer is the message as it
// was before the first action, which says nothing about who has made it so.
func (h *history) byOthers() (change postroom.LabelChange) {
	last := map[string]bool{} // by the label: whether somebody else has changed it last
	var snapshot postroom.Snapshot
	for i, l := range h.layers {
		if h.omits(l) {
			continue
		}
		next := snapshot.Apply(l.change)
		changed := next.ChangeFrom(snapshot)
		for _, label := range slices.Concat(changed.Add, changed.Remove) {
			last[label] = l.actionID == "" && l.ends == nil && i > 0
		}
		snapshot = next
	}
	for label, others := range last {
		switch {
		case !others:
		case snapshot.Has(label):
			change.Add = append(change.Add, label)
		case label != postroom.LabelUnread: // that it was read
			change.Remove = append(change.Remove, label)
		}
	}
	return change
}
