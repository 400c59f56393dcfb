package appointments

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/safefolder"
	"github.com/postroom-go/postroom/queue"
)

func cleanName(text string) string { return safefolder.CleanName(text) }

func hashOf(content []byte) string { return safefolder.HashOf(content) }

const ending = ".ics"

// A change is what becomes of one file. It is stored before it is made.
type change struct {
	ID      string `json:"id"`     // of the appointment
	Path    string `json:"path"`   // where it was written before; empty: nowhere
	Before  string `json:"before"` // the hash of what was written there
	Base    string `json:"base"`
	Digits  string `json:"digits"`
	Renamed bool   `json:"renamed,omitempty"` // its day or title is another: a new file takes the place of the one before
	Content []byte `json:"content,omitempty"` // nil: the file is removed
}

// files brings the files of a message up to date.
func (k *Keeper) files(ctx context.Context, w *queue.Work[Payload]) (err error) {
	folder, err := safefolder.Open(k.cfg.Folder, words)
	if err != nil { // it is mounted later, or made
		return wait(w.Attempt, &postroom.HeldError{Reason: err.Error()})
	}
	defer func() { err = errors.Join(folder.Explain(err), folder.Close()) }()
	planned := false
	changes, err := queue.Step(ctx, w, "plan", func(ctx context.Context) ([]change, error) {
		planned = true
		return k.plan(ctx, w.Payload)
	})
	if err != nil {
		return err
	}
	if err := k.carryOut(ctx, w.Attempt, folder, changes); err != nil {
		return err
	}
	again := false
	if !planned { // requests that came after the plan, while this job waited, were taken for it
		left, err := k.plan(ctx, w.Payload, changes...)
		again = err != nil || len(left) > 0
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		err := k.record(ctx, tx, w.Payload, changes)
		if err == nil && again {
			err = k.Follow(ctx, tx, w.Payload.AccountID, w.Payload.MessageID)
		}
		return err
	})
}

// plan says which files are to be written, and which are to be removed, after some changes that are not recorded yet.
func (k *Keeper) plan(ctx context.Context, p Payload, made ...change) (changes []change, err error) {
	found, err := k.find(ctx, p)
	if err != nil {
		return nil, err
	}
	known, err := k.known(ctx, p)
	if err != nil {
		return nil, err
	}
	delete(known, "") // a draft of before stays
	for _, c := range made {
		if known[c.ID] = (row{Path: c.Path, SHA256: hashOf(c.Content)}); c.Content == nil {
			delete(known, c.ID)
		}
	}
	for i := range found.List {
		a := &found.List[i]
		row, kept := known[a.ID]
		delete(known, a.ID)
		if a.Over || kept && row.SHA256 == hashOf(a.ICS) {
			continue
		}
		changes = append(changes, change{ID: a.ID, Path: row.Path, Before: row.SHA256, Base: a.name(), Digits: a.digits(),
			Renamed: row.Path != "" && !a.names(row.Path), Content: a.ICS})
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		changes = append(changes, change{ID: id, Path: known[id].Path, Before: known[id].SHA256})
	}
	return changes, nil
}

// carryOut makes the changes, and sets their paths, unless the process was taken for dead and another does the job by
// now.
func (k *Keeper) carryOut(ctx context.Context, w *queue.Attempt, folder safefolder.Folder, changes []change) error {
	const name = "files"
	if len(changes) == 0 {
		return nil
	}
	if err := w.StartStep(ctx, name); err != nil {
		return err
	}
	return k.outside(ctx, name, func() error {
		k.mu.Lock()
		defer k.mu.Unlock()
		for i := range changes {
			if err := changes[i].carryOut(folder); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *change) carryOut(folder safefolder.Folder) (err error) {
	before := c.Path
	if c.Renamed {
		c.Path = ""
	}
	if c.Content != nil {
		c.Path, _, err = folder.Put(safefolder.File{At: c.Path, Before: c.Before, Base: c.Base, Digits: c.Digits,
			Ending: ending, Content: c.Content})
	}
	if err == nil && before != "" && (c.Renamed || c.Content == nil) {
		_, err = folder.Remove(before, c.Before) // one that a person has edited stays
	}
	return err
}
