package view

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/notes"
)

// A Note is a text about a message, in a file of the vault.
type Note struct {
	ID        string    `json:"id"` // also that of the action that made it
	Mailbox   string    `json:"mailbox"`
	MessageID string    `json:"message_id"`
	Path      string    `json:"path,omitempty"` // below notes.folder; empty if its file was removed by a person
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

// Notes are a page of notes, the latest first.
type Notes struct {
	List []Note `json:"notes"`
	Next string `json:"next,omitempty"` // the id of the note after which the next page begins; empty on the last one
}

// NewNotes reads a page of notes; the limit of the filter is that of the page.
func NewNotes(ctx context.Context, h *app.App, f notes.Filter) (v Notes, err error) {
	page := f.Limit
	f.Limit++
	list, err := h.Notes.List(ctx, f)
	if err != nil {
		return v, err
	}
	if len(list) > page {
		list = list[:page]
		v.Next = list[page-1].ID
	}
	mailboxes, err := Mailboxes(ctx, h)
	v.List = printer.List(list, func(n notes.Note) Note { return newNote(n, mailboxes) })
	return v, err
}

// NewNote views one note.
func NewNote(ctx context.Context, h *app.App, id string) (v Note, err error) {
	n, err := h.Notes.Note(ctx, id)
	if err != nil {
		return v, err
	}
	mailboxes, err := Mailboxes(ctx, h)
	return newNote(n, mailboxes), err
}

func newNote(n notes.Note, mailboxes map[string]string) Note {
	return Note{ID: n.ID, Mailbox: mailboxes[n.AccountID], MessageID: n.MessageID, Path: n.Path, Text: n.Text,
		CreatedAt: n.CreatedAt}
}

// PrintNote prints a note for people. The folder is that of the vault; empty if there is none.
func PrintNote(w io.Writer, n Note, folder string) error {
	path := n.Path
	if path != "" && folder != "" {
		path = filepath.Join(folder, filepath.FromSlash(path))
	}
	f := printer.NewFields(w)
	f.Add("id", n.ID)
	f.Add("note", n.Text)
	f.Add("file", path)
	f.Add("mailbox", n.Mailbox)
	f.Add("message", n.MessageID)
	f.Add("made", printer.Clock(n.CreatedAt))
	return f.Flush()
}
