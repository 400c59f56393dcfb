package notes

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/safefolder"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

var errForgotten = queue.Fatal(errors.New("notes: what is known of this note was forgotten when its mailbox was " +
	"removed; its file stays: delete it yourself if you do not want it"))

// A removal is what the undo of an action does. It is stored before it is done.
type removal struct {
	Path    string    `json:"path"`   // empty: no file changes
	Before  string    `json:"before"` // the hash of the file
	Content []byte    `json:"content,omitempty"`
	Files   []written `json:"files,omitempty"` // attached files that are removed with the note
	Row     fileRow   `json:"row"`
}

// takeBack undoes an action: its text is taken out of the note, and a note without texts is removed.
func (v *Vault) takeBack(ctx context.Context, run postroom.Run, a postroom.Action) (commit postroom.Commit, err error) {
	f, err := v.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(f.Explain(err), f.Close()) }()
	r, err := postroom.Step(ctx, run, "note", func(ctx context.Context) (removal, error) {
		return v.planRemoval(ctx, f, a)
	})
	if err != nil {
		return nil, err
	}
	var gone []string
	err = v.fenced(ctx, run, func() (err error) {
		gone, err = r.takeBack(f)
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx postroom.Tx) error {
		if _, err := dbquery.Exec(ctx, tx, sqlDeleteNote, a.ID); err != nil {
			return fmt.Errorf("notes: remove the note of action %s: %w", a.ID, err)
		}
		for _, name := range gone {
			if _, err := dbquery.Exec(ctx, tx, sqlDeleteFile, name, a.MessageID); err != nil {
				return fmt.Errorf("notes: remove the file %s: %w", name, err)
			}
		}
		if r.Content == nil {
			return nil
		}
		r.Row.SHA256, r.Row.WrittenAt = safefolder.HashOf(r.Content), dbtime.Of(v.cfg.Now())
		return saveFile(ctx, tx, r.Row)
	}, nil
}

// planRemoval says what the undo of an action does. A file that is edited since is an error.
func (v *Vault) planRemoval(ctx context.Context, f safefolder.Folder, a postroom.Action) (r removal, err error) {
	k, err := v.known(ctx, a.AccountID, a.MessageID)
	if err != nil {
		return r, err
	}
	i := slices.IndexFunc(k.notes, func(n noteRow) bool { return n.ID == a.ID })
	if i < 0 {
		return r, errForgotten
	}
	row, ok := k.files[k.notes[i].Path]
	if !ok {
		return r, nil // another message has a file there by now
	}
	texts := k.texts(row.Path, a.ID)
	if slices.Contains(texts, k.notes[i].Text) {
		return r, nil // another action wants the same text
	}
	found, err := f.Hash(row.Path)
	switch {
	case err != nil:
		return r, err
	case found == "" && len(texts) > 0:
		return r, nil
	case found == "": // a person has deleted or moved it; attached files may be in use
		return removal{Path: row.Path}, nil
	case found != row.SHA256:
		return r, queue.Fatal(fmt.Errorf("notes: the note %s: %w", row.Path, ErrEdited))
	}
	r = removal{Path: row.Path, Before: found, Row: row}
	if len(texts) == 0 {
		if !slices.ContainsFunc(k.notes, func(n noteRow) bool { return n.Path != row.Path }) {
			for _, name := range k.kept() {
				r.Files = append(r.Files, written{name, k.files[name].SHA256})
			}
		}
		return r, nil
	}
	m, mailbox, err := v.read(ctx, a)
	if err != nil {
		return r, err
	}
	r.Content = v.render(page{message: m, mailbox: mailbox, earlier: row.Earlier, files: k.kept(), texts: texts})
	return r, nil
}

// takeBack changes the files of a removal, and returns the paths of those that are gone.
func (r *removal) takeBack(f safefolder.Folder) (gone []string, err error) {
	if r.Path == "" {
		return nil, nil
	}
	edited := queue.Fatal(fmt.Errorf("notes: the note %s: %w", r.Path, ErrEdited))
	if r.Content != nil {
		found, err := f.Hash(r.Path)
		if err != nil || found == safefolder.HashOf(r.Content) {
			return nil, err
		}
		if replaced, err := f.Replace(r.Path, r.Before, r.Content); err != nil || replaced {
			return nil, err
		}
		return nil, edited
	}
	if removed, err := f.Remove(r.Path, r.Before); err != nil || !removed {
		return nil, errors.Join(err, unless(removed || err != nil, edited))
	}
	gone = append(gone, r.Path)
	for _, w := range r.Files {
		removed, err := f.Remove(w.Path, w.SHA256)
		if err != nil {
			return nil, err
		}
		if removed { // one that a person has edited stays
			f.RemoveEmpty(path.Dir(w.Path))
		}
		gone = append(gone, w.Path)
	}
	return gone, nil
}

func unless(is bool, err error) error {
	if is {
		return nil
	}
	return err
}
