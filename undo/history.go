package undo

import (
	"cmp"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety"
)

// A history is the sequence of layers that led to the labels of a message: the labels before the first action, then
// the change of each action and, if a snapshot shows a change that no action explains, that change. To undo an action
// is to omit its layer; a label is then as the last of the other layers that touch it has set it. So the order of
// undos does not matter.
//
// A wake-up has a layer as well. It ends all snoozes before it, and is omitted when they all are: without them there
// would have been nothing to wake, and while one of them is left the message must not sleep on without anything to
// wake it.
type history struct {
	layers []layer
	now    postroom.Snapshot // after all layers
	begun  map[string]int    // of a past action: the number of layers when it began
	undoes map[string]string // of a past undo: the action that it undoes
	out    map[string]bool   // the actions whose layers are omitted
	asleep []string          // the actions since the last wake-up that end by themselves
}

// A layer is one change of the labels.
type layer struct {
	actionID string   // empty: of somebody else, or of an end
	ends     []string // the actions that it ends: they had scheduled what has reversed them
	change   postroom.LabelChange
}

// replay makes the history of a message from its past actions, in the order in which they were executed. The wake-ups
// that the ledger has on record take their turns among them. Of an action that has ended without such a record, as
// ended has it, the end is the reverse of its change, made at once.
func replay(past []safety.Past, ended map[string]bool) *history {
	h := &history{begun: make(map[string]int), undoes: make(map[string]string), out: make(map[string]bool)}
	wakeUps := wakeUpsIn(past)
	for i := range past {
		p := &past[i]
		for len(wakeUps) > 0 && wakeUps[0].Turn <= p.Turn {
			h.wake(wakeUps[0])
			wakeUps = wakeUps[1:]
		}
		if hint := p.UndoHint; hint != nil && hint.Before != nil && hint.After != nil {
			h.observe(*hint.Before)
			h.begun[p.ID] = len(h.layers)
			h.repeat(p)
			h.observe(*hint.After)
			if ended[p.ID] {
				h.add(layer{ends: []string{p.ID}, change: postroom.LabelChange{Add: hint.Own().Remove, Remove: hint.Own().Add}})
			}
		}
	}
	for _, w := range wakeUps {
		h.wake(w)
	}
	return h
}

// wakeUpsIn returns the recorded wake-ups, in the order of their turns.
func wakeUpsIn(past []safety.Past) (wakeUps []*postroom.WakeUp) {
	for i := range past {
		if hint := past[i].UndoHint; hint != nil && hint.Woken != nil {
			wakeUps = append(wakeUps, hint.Woken)
		}
	}
	slices.SortStableFunc(wakeUps, func(a, b *postroom.WakeUp) int { return cmp.Compare(a.Turn, b.Turn) })
	return wakeUps
}

// wake adds the layer of a wake-up, which ends the snoozes since the last one.
func (h *history) wake(w *postroom.WakeUp) {
	h.observe(w.Before)
	h.add(layer{ends: h.asleep, change: w.Change})
	h.observe(w.After)
	h.asleep = nil
}

// observe adds a layer for the part of the snapshot that the other layers do not explain.
func (h *history) observe(seen postroom.Snapshot) {
	if change := seen.ChangeFrom(h.now); !change.IsZero() {
		h.add(layer{change: whole(change, seen)})
	}
}

func (h *history) add(l layer) {
	h.layers = append(h.layers, l)
	h.now = h.now.Apply(l.change)
}

// whole returns the change, completed by all places if it touches one: moving a message sets its place.
func whole(change postroom.LabelChange, seen postroom.Snapshot) postroom.LabelChange {
	if !slices.ContainsFunc(places, func(l string) bool { return touches(change, l) }) {
		return change
	}
	for _, l := range places {
		switch {
		case touches(change, l):
		case seen.Has(l):
			change.Add = append(change.Add, l)
		default:
			change.Remove = append(change.Remove, l)
		}
	}
	return change
}

func (h *history) repeat(p *safety.Past) {
	if p.Undoes == "" {
		h.add(layer{actionID: p.ID, change: p.UndoHint.Own().WithLeaving(*p.UndoHint.After)})
		if endsByItself(p) {
			h.asleep = append(h.asleep, p.ID)
		}
		return
	}
	h.undoes[p.ID] = p.Undoes
	h.undo(p.Undoes)
}

// undo leaves the action's layer out; the undo of an undo puts the layer of the first action back in.
func (h *history) undo(actionID string) {
	if original, ok := h.undoes[actionID]; ok {
		h.out[original] = false
	} else {
		h.out[actionID] = true
	}
	h.now = h.snapshot(len(h.layers), everybody)
}

func everybody(int, layer) bool { return true }

// snapshot returns the message after the selected layers among the first n that are not omitted.
func (h *history) snapshot(n int, selected func(i int, l layer) bool) postroom.Snapshot {
	var snapshot postroom.Snapshot
	for i, l := range h.layers[:n] {
		if !h.omits(l) && selected(i, l) {
			snapshot = snapshot.Apply(l.change)
		}
	}
	return snapshot
}

func (h *history) omits(l layer) bool {
	if len(l.ends) == 0 {
		return h.out[l.actionID]
	}
	return !slices.ContainsFunc(l.ends, func(id string) bool { return !h.out[id] })
}

// plan returns the report of an undo of the past action when the message has the snapshot now. The history is as after
// the undo then.
func (h *history) plan(actionID string, now postroom.Snapshot) Report {
	h.observe(now)
	begun := h.begun[actionID]
	ours := func(i int, l layer) bool { return l.actionID != "" || l.ends != nil || i < begun }
	r := Report{Preserved: []ExternalChange{}}
	r.leave(now.ChangeFrom(h.snapshot(len(h.layers), ours)))

	reached := begun
	if _, isUndo := h.undoes[actionID]; !isUndo {
		reached++ // its own layer
	}
	then := h.snapshot(reached, everybody)
	h.undo(actionID)
	r.Restored = h.now.ChangeFrom(now)
	undone := h.snapshot(reached, everybody).ChangeFrom(then)
	r.Skipped = without(now.Apply(undone).ChangeFrom(now), r.Restored)
	return r
}
