package enrichment

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/safety"
)

// A NoteState is the state of a note about a message, which a rule, a model or a person has decided on by the action
// add_note.
type NoteState struct {
	Action string               `json:"action"` // the id
	State  postroom.ActionState `json:"state"`
	Path   string               `json:"path,omitempty"` // below notes.folder; empty before it is there, and once removed
	Error  string               `json:"error,omitempty"`
}

// Line says the state of the note on one line.
func (n *NoteState) Line() string {
	switch {
	case n.Path != "":
		return n.Path
	case n.State == postroom.ActionCompleted:
		return "kept, and removed by hand"
	case n.Error != "":
		return n.State.Words() + ": " + n.Error
	}
	return n.State.Words()
}

// mostNotes bounds the notes about a message that are looked up, the latest.
const mostNotes = 20

// AddNotes adds the notes about the message, the first one first. Those that were taken back are left out.
func (v *View) AddNotes(ctx context.Context, ledger *safety.Ledger, store *notes.Store, msg *postroom.Message) error {
	list, err := ledger.Actions(ctx, safety.Filter{AccountID: msg.AccountID, MessageID: msg.ID,
		Types: []postroom.ActionType{postroom.AddNote}, Limit: mostNotes})
	if err != nil {
		return err
	}
	for i := len(list) - 1; i >= 0; i-- {
		a := &list[i].Action
		n := NoteState{Action: a.ID, State: a.State, Error: a.Error}
		if a.State == postroom.ActionCompleted {
			written, err := store.Note(ctx, a.ID)
			if errors.Is(err, postroom.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			n.Path = written.Path
		}
		v.Notes = append(v.Notes, n)
	}
	return nil
}
