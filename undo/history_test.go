package undo

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety"
)

// provider changes a message as Gmail does: the trash takes it out of the inbox.
func provider(i postroom.Snapshot, c postroom.LabelChange) postroom.Snapshot {
	if slices.Contains(c.Add, "TRASH") {
		c.Remove = append(slices.Clone(c.Remove), "INBOX")
	}
	return i.Apply(c)
}

func adds(labels ...string) postroom.LabelChange    { return postroom.LabelChange{Add: labels} }
func removes(labels ...string) postroom.LabelChange { return postroom.LabelChange{Remove: labels} }

// kinds are the changes of actions.
var kinds = []postroom.LabelChange{
	removes("INBOX"), adds("INBOX"), adds("TRASH"), removes("TRASH"), adds("STARRED"), removes("STARRED"),
	adds("UNREAD"), removes("UNREAD"),
	adds("Label_1"), removes("Label_1"),
	{Add: []string{"Label_1"}, Remove: []string{"INBOX"}}, {Add: []string{"Label_2"}, Remove: []string{"INBOX"}},
}

// hands are the changes of people.
var hands = []postroom.LabelChange{
	{Add: []string{"TRASH"}, Remove: []string{"SPAM"}}, {Add: []string{"SPAM"}, Remove: []string{"INBOX", "TRASH"}},
	{Add: []string{"INBOX"}, Remove: []string{"TRASH", "SPAM"}}, removes("INBOX"), adds("STARRED"), removes("STARRED"),
	adds("UNREAD"), removes("UNREAD"), adds("Label_1"), removes("Label_1"), adds("Label_3"), removes("Asleep"),
}

// A world is a message, what has been done to it, and a model that can leave any of it out.
type world struct {
	message postroom.Snapshot
	seen    postroom.Snapshot // by the last action
	past    []safety.Past
	model   []func(i postroom.Snapshot) postroom.Snapshot
	done    map[string]int // the places of the actions in the model
	out     map[int]bool
	live    map[string]string // the actions that are undone, and their undos
	turn    int64             // of the last action or wake-up
	asleep  []string          // the snoozes since the last wake-up
	woken   map[int][]string  // the places of the wake-ups in the model, and what they have ended
}

func newWorld(labels ...string) *world {
	i := postroom.NewSnapshot(labels)
	w := &world{message: i, done: make(map[string]int), out: make(map[int]bool), live: make(map[string]string),
		woken: make(map[int][]string)}
	w.notice()
	return w
}

// notice puts what people have done since the last action into the model, as far as one can see it.
func (w *world) notice() {
	change := w.message.ChangeFrom(w.seen)
	moved, message := slices.ContainsFunc(slices.Concat(change.Add, change.Remove), isPlace), w.message
	w.model = append(w.model, func(i postroom.Snapshot) postroom.Snapshot {
		i = i.Apply(change)
		for _, l := range places {
			if moved {
				i = i.Apply(removes(l))
				if message.Has(l) {
					i = i.Apply(adds(l))
				}
			}
		}
		return i
	})
	w.seen = w.message
}

func (w *world) record(p safety.Past, hint postroom.UndoHint) {
	w.turn++
	p.ID, p.Turn, p.UndoHint = fmt.Sprint("action-", len(w.past)), w.turn, &hint
	w.past = append(w.past, p)
}

// act carries out an action. What people do amid it, between two attempts, is given.
func (w *world) act(change postroom.LabelChange, amid ...postroom.LabelChange) {
	w.notice()
	before := w.message
	w.model = append(w.model, func(i postroom.Snapshot) postroom.Snapshot { return provider(i, change) })
	w.message = provider(w.message, change)
	w.seen = w.message
	place := len(w.model) - 1
	for _, hand := range amid {
		w.message = w.message.Apply(hand)
	}
	w.message = provider(w.message, change)
	after := w.message
	w.notice()
	w.record(safety.Past{}, postroom.UndoHint{Before: &before, After: &after, Change: &change})
	w.done[w.past[len(w.past)-1].ID] = place
}

// snooze carries out a snooze.
func (w *world) snooze() {
	w.act(postroom.LabelChange{Add: []string{"Asleep"}, Remove: []string{"INBOX"}})
	last := &w.past[len(w.past)-1]
	last.UndoHint.InverseParameters = postroom.Parameters{postroom.ParamCancelKey: last.ID}
	w.asleep = append(w.asleep, last.ID)
}

// wake wakes the message from the last snooze that is not undone, and so from all.
func (w *world) wake() {
	for _, id := range slices.Backward(w.asleep) {
		if _, undone := w.live[id]; undone {
			continue
		}
		w.notice()
		woken := postroom.WakeUp{Before: w.message, Change: removes("Asleep")}
		if !w.message.Has("TRASH") && !w.message.Has("SPAM") {
			woken.Change.Add = []string{"INBOX"}
		}
		w.message = w.message.Apply(woken.Change)
		w.turn++
		woken.After, woken.Turn, w.seen = w.message, w.turn, w.message
		w.model = append(w.model, func(i postroom.Snapshot) postroom.Snapshot { return i.Apply(woken.Change) })
		w.woken[len(w.model)-1] = w.asleep
		w.past[slices.IndexFunc(w.past, func(p safety.Past) bool { return p.ID == id })].UndoHint.Woken = &woken
		w.asleep = nil
		return
	}
}

// undo undoes an action, or an undo.
func (w *world) undo(id string) Report {
	w.notice()
	before := w.message
	r := replay(w.past, nil).plan(id, w.message)
	after := before.Apply(r.Restored)
	w.message, w.seen = after, after
	w.record(safety.Past{Undoes: id}, postroom.UndoHint{Before: &before, After: &after})
	for original, undo := range w.live {
		if undo == id {
			delete(w.live, original)
			w.out[w.done[original]] = false
			return r
		}
	}
	w.live[id] = w.past[len(w.past)-1].ID
	w.out[w.done[id]] = true
	return r
}

// expected is the message as it would be if what is undone had never been done.
func (w *world) expected() (i postroom.Snapshot) {
	for n, f := range w.model {
		if !w.out[n] && !w.slept(n) {
			i = f(i)
		}
	}
	return i
}

// slept reports whether a place of the model is a wake-up of which all snoozes are undone.
func (w *world) slept(place int) bool {
	ends, is := w.woken[place]
	return is && !slices.ContainsFunc(ends, func(id string) bool { return w.live[id] == "" })
}

// standing are the actions that are not undone.
func (w *world) standing() (ids []string) {
	for id := range w.done {
		if _, undone := w.live[id]; !undone {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func TestInWhateverOrderActionsAreUndone(t *testing.T) {
	type step func(w *world)
	first := func(w *world) { w.undo("action-0") }
	second := func(w *world) { w.undo("action-1") }
	for name, tc := range map[string]struct {
		before []string
		steps  []step
		want   []string
	}{
		"moved, thrown away; both undone, oldest first": {
			before: []string{"INBOX"},
			steps:  []step{func(w *world) { w.act(kinds[10]) }, func(w *world) { w.act(adds("TRASH")) }, first, second},
			want:   []string{"INBOX"},
		},
		"moved, thrown away; only the move undone": {
			before: []string{"INBOX"},
			steps:  []step{func(w *world) { w.act(kinds[10]) }, func(w *world) { w.act(adds("TRASH")) }, first},
			want:   []string{"TRASH"},
		},
		"thrown away, taken out of the trash by a person, undone": {
			before: []string{"INBOX"},
			steps: []step{func(w *world) { w.act(adds("TRASH")) },
				func(w *world) { w.message = w.message.Apply(removes("TRASH")) }, first},
		},
		"thrown away, moved into the inbox by a person, undone": {
			before: []string{"STARRED"},
			steps: []step{func(w *world) { w.act(adds("TRASH")) },
				func(w *world) {
					w.message = w.message.Apply(postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"TRASH", "SPAM"}})
				}, first},
			want: []string{"INBOX", "STARRED"},
		},
		"archived, thrown away, taken out of the trash by a person, both undone, oldest first": {
			before: []string{"INBOX"},
			steps: []step{func(w *world) { w.act(removes("INBOX")) }, func(w *world) { w.act(adds("TRASH")) },
				func(w *world) { w.message = w.message.Apply(removes("TRASH")) }, first, second},
		},
		"archived, thrown away, taken out of the trash by a person, both undone, newest first": {
			before: []string{"INBOX"},
			steps: []step{func(w *world) { w.act(removes("INBOX")) }, func(w *world) { w.act(adds("TRASH")) },
				func(w *world) { w.message = w.message.Apply(removes("TRASH")) }, second, first},
		},
		"archived, thrown away and taken out of the trash by a person before anybody looks, undone": {
			before: []string{"INBOX"},
			steps: []step{func(w *world) { w.act(removes("INBOX")) }, func(w *world) {
				w.message = w.message.Apply(adds("TRASH")).Apply(removes("TRASH"))
			}, first},
			want: []string{"INBOX"},
		},
		"read, unread; both undone in that order": {
			before: []string{"UNREAD"},
			steps:  []step{func(w *world) { w.act(removes("UNREAD")) }, func(w *world) { w.act(adds("UNREAD")) }, first, second},
			want:   []string{"UNREAD"},
		},
		"starred twice, the first undone": {
			steps: []step{func(w *world) { w.act(adds("STARRED")) }, func(w *world) { w.act(adds("STARRED")) }, first},
			want:  []string{"STARRED"},
		},
		"starred twice, both undone": {
			steps: []step{func(w *world) { w.act(adds("STARRED")) }, func(w *world) { w.act(adds("STARRED")) }, first, second},
		},
		"archived while a person stars and reads it, undone": {
			before: []string{"INBOX", "UNREAD"},
			steps:  []step{func(w *world) { w.act(removes("INBOX"), adds("STARRED"), removes("UNREAD")) }, first},
			want:   []string{"INBOX", "STARRED"},
		},
		"archived while a person throws it away, undone": {
			before: []string{"INBOX"},
			steps:  []step{func(w *world) { w.act(removes("INBOX"), adds("TRASH")) }, first},
			want:   []string{"TRASH"},
		},
		"archived, undone, the undo undone": {
			before: []string{"INBOX"},
			steps:  []step{func(w *world) { w.act(removes("INBOX")) }, first, second},
		},
		"archived, undone, starred by a person, the undo undone, and undone again": {
			before: []string{"INBOX"},
			steps: []step{
				func(w *world) {
					w.act(removes("INBOX"))
				}, first, func(w *world) { w.message = w.message.Apply(adds("STARRED")) }, second, first,
			},
			want: []string{"INBOX", "STARRED"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(tc.before...)
			for _, step := range tc.steps {
				step(w)
			}
			requireImage(t, postroom.NewSnapshot(tc.want), w.message)
		})
	}
}

// TestUndoIsAsIfItHadNeverBeen: actions, people's changes before, between and amid them, wake-ups, undos and undos of
// undos in any order leave the message as it would be without what is undone; and when all is undone, as people's
// changes alone have made it.
func TestUndoIsAsIfItHadNeverBeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.SliceOfDistinct(rapid.SampledFrom([]string{"INBOX", "UNREAD", "STARRED", "Label_1"}),
			rapid.ID).Draw(t, "labels")...)
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if slices.Equal(w.seen.LabelIDs, w.message.LabelIDs) { // what people do counts when somebody looks
					requireImage(t, w.expected(), w.message)
				}
			},
			"act": func(t *rapid.T) {
				change := rapid.SampledFrom(kinds).Draw(t, "change")
				w.act(change, drawHands(t, change)...)
			},
			"snooze": func(*rapid.T) { w.snooze() },
			"wake":   func(*rapid.T) { w.wake() },
			"person": func(t *rapid.T) { w.message = w.message.Apply(rapid.SampledFrom(hands).Draw(t, "hand")) },
			"undo": func(t *rapid.T) {
				if ids := w.standing(); len(ids) > 0 {
					w.undo(rapid.SampledFrom(ids).Draw(t, "action"))
				}
			},
			"undo an undo": func(t *rapid.T) {
				var undos []string
				for _, id := range w.live {
					undos = append(undos, id)
				}
				slices.Sort(undos)
				if len(undos) > 0 {
					w.undo(rapid.SampledFrom(undos).Draw(t, "undo"))
				}
			},
		})
		for _, id := range rapid.Permutation(w.standing()).Draw(t, "order") {
			w.undo(id)
		}
		w.notice()
		requireImage(t, w.expected(), w.message)
	})
}

// drawHands draws what people do between two attempts of an action, to other labels than its own: who changes the
// same label in that moment cannot be told from the attempt before.
func drawHands(t *rapid.T, change postroom.LabelChange) (drawn []postroom.LabelChange) {
	ownPlace := slices.ContainsFunc(slices.Concat(change.Add, change.Remove), isPlace)
	for _, hand := range rapid.SliceOfN(rapid.SampledFrom(hands), 0, 2).Draw(t, "amid") {
		if !slices.ContainsFunc(slices.Concat(hand.Add, hand.Remove), func(l string) bool {
			return touches(change, l) || ownPlace && isPlace(l)
		}) {
			drawn = append(drawn, hand)
		}
	}
	return drawn
}
