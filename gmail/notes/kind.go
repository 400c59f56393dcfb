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

var errNoVault = queue.Fatal(errors.New("notes: the kind has no Vault, which keeps notes; give New's"))

// ErrEdited reports that a note is not removed, because a person has edited its file since it was written.
var ErrEdited = errors.New("it was edited since, and stays as it is; delete it yourself if you do not want it")

// Kind returns the kind of action that keeps a note about a message. The function returns the vault when an action is
// carried out; a nil function, or one that returns nil, is for programs that only read rules.
func Kind(vault func() *Vault) postroom.Kind {
	of := func() (*Vault, error) {
		if vault != nil {
			if v := vault(); v != nil {
				return v, nil
			}
		}
		return nil, errNoVault
	}
	k, _ := postroom.StandardKind(postroom.AddNote)
	k.Ready = func(context.Context, postroom.Action) error {
		v, err := of()
		if err != nil {
			return nil //nolint:nilerr // the Handler says so
		}
		f, err := v.open()
		if err != nil {
			return &postroom.HeldError{Reason: err.Error()}
		}
		return f.Close()
	}
	k.Handler = func(ctx context.Context, run postroom.Run, a postroom.Action) (postroom.Outcome, error) {
		v, err := of()
		if err != nil {
			return postroom.Outcome{}, err
		}
		return v.add(ctx, run, a)
	}
	k.Undo = func(ctx context.Context, run postroom.Run, a postroom.Action) (postroom.Commit, error) {
		v, err := of()
		if err != nil {
			return nil, err
		}
		return v.takeBack(ctx, run, a)
	}
	return k
}

// A plan is what an action writes. It is stored before the file is written.
type plan struct {
	// Path is that of the file which has the text already, or which is written over if it has the hash Before. Empty:
	// the file is new, or a person has deleted the one that had the text.
	Path   string `json:"path,omitempty"`
	Before string `json:"before,omitempty"`

	// Dir and Base are the folder and the name of a new file, Digits what makes it unique.
	Dir    string `json:"dir"`
	Base   string `json:"base"`
	Digits string `json:"digits"`

	Content  []byte    `json:"content,omitempty"` // nil: nothing is written
	ThreadID string    `json:"thread_id"`
	Earlier  string    `json:"earlier,omitempty"`
	Files    []written `json:"files,omitempty"`

	over string // the file that was written over; empty: a new file was written
}

// A written file has a path and the hash of its content.
type written struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// add carries out an action.
func (v *Vault) add(ctx context.Context, run postroom.Run, a postroom.Action) (done postroom.Outcome, err error) {
	f, err := v.open()
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(f.Explain(err), f.Close()) }()
	p, err := postroom.Step(ctx, run, "note", func(ctx context.Context) (plan, error) { return v.plan(ctx, f, a) })
	if err != nil {
		return done, err
	}
	if err := v.fenced(ctx, run, func() error { return p.carryOut(f) }); err != nil {
		return done, err
	}
	done.Commit = func(ctx context.Context, tx postroom.Tx) error { return v.store(ctx, tx, a, p) }
	return done, nil
}

// plan says what becomes of the text of an action. Attached files are written here: they are the same each time.
func (v *Vault) plan(ctx context.Context, f safefolder.Folder, a postroom.Action) (p plan, err error) {
	m, mailbox, err := v.read(ctx, a)
	if err != nil {
		return p, err
	}
	k, err := v.known(ctx, a.AccountID, a.MessageID)
	if err != nil {
		return p, err
	}
	text, _ := a.Parameters.Text("note")
	text = clean(text)
	if i := slices.IndexFunc(k.notes, func(n noteRow) bool { return n.Text == text }); i >= 0 {
		return plan{Path: k.notes[i].Path}, nil
	}
	p.ThreadID, p.Digits = m.ThreadID, digits(mailbox, m, 6)
	p.Dir, p.Base = v.path.Fill(safefolder.Filling{Message: m, At: v.at(m), Mailbox: mailbox})
	content := page{message: m, mailbox: mailbox, texts: []string{text}}
	if row, ok := k.last(); ok {
		found, err := f.Hash(row.Path)
		if err != nil {
			return p, err
		}
		if p.Earlier = row.Earlier; found == row.SHA256 {
			p.Path, p.Before = row.Path, row.SHA256
			content.texts = append(k.texts(row.Path, ""), text)
		}
	} else if p.Earlier, err = v.earlier(ctx, m); err != nil {
		return p, err
	}
	if p.Files, err = v.keepFiles(ctx, f, m, mailbox, k); err != nil {
		return p, err
	}
	content.earlier, content.files = p.Earlier, k.kept()
	for _, file := range p.Files {
		content.files = append(content.files, file.Path)
	}
	slices.Sort(content.files)
	p.Content = v.render(content)
	return p, nil
}

// read returns the message of an action, and the address of its mailbox.
func (v *Vault) read(ctx context.Context, a postroom.Action) (m *postroom.Message, mailbox string, err error) {
	if m, err = v.cfg.Message(ctx, a.AccountID, a.MessageID); err != nil {
		return nil, "", fmt.Errorf("notes: read message %s: %w", a.MessageID, err)
	}
	if mailbox, err = v.cfg.Mailbox(ctx, a.AccountID); err != nil {
		return nil, "", fmt.Errorf("notes: read account %s: %w", a.AccountID, err)
	}
	return m, mailbox, nil
}

// keepFiles writes the attached files of the first note about a message.
func (v *Vault) keepFiles(ctx context.Context, f safefolder.Folder, m *postroom.Message, mailbox string,
	k known) (list []written, err error) {
	if v.cfg.Files == nil || len(k.kept()) > 0 || len(attached(m)) == 0 {
		return nil, nil
	}
	files, err := v.cfg.Files(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("notes: read the attached files of message %s: %w", m.ID, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	dir := filesOf(mailbox, m)
	for _, file := range files[:min(len(files), maxFiles)] {
		name := fileName(file.Name)
		ending := path.Ext(name)
		at, err := f.Create(dir, name[:len(name)-len(ending)], digits(mailbox, m, 6), ending, file.Content)
		if err != nil {
			return nil, err
		}
		w := written{at, safefolder.HashOf(file.Content)}
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list, nil
}

// fenced calls a function that touches files, unless the process was taken for dead and another carries out its job by
// now: what it would write or remove is old.
func (v *Vault) fenced(ctx context.Context, run postroom.Run, call func() error) error {
	const name = "file"
	if err := run.StartStep(ctx, name); err != nil {
		return err
	}
	return v.outside(ctx, name, func() error {
		v.mu.Lock()
		defer v.mu.Unlock()
		return call()
	})
}

// carryOut writes the file of a plan, and sets its path.
func (p *plan) carryOut(f safefolder.Folder) error {
	if p.Content == nil {
		return nil
	}
	at, same, err := f.Put(safefolder.File{At: p.Path, Before: p.Before, Dir: p.Dir, Base: p.Base, Digits: p.Digits,
		Ending: ".md", Content: p.Content})
	if p.Path = at; same {
		p.over = at
	}
	return err
}

// store records what an action has written.
func (v *Vault) store(ctx context.Context, tx postroom.Tx, a postroom.Action, p plan) error {
	now := dbtime.Of(v.cfg.Now())
	text, _ := a.Parameters.Text("note")
	_, err := dbquery.Exec(ctx, tx, sqlInsertNote, a.ID, a.AccountID, a.MessageID, p.Path, text, now)
	if err != nil {
		return fmt.Errorf("notes: store the note of action %s: %w", a.ID, err)
	}
	if p.Content == nil {
		return nil
	}
	if p.over == "" {
		if _, err := dbquery.Exec(ctx, tx, sqlLeavePath, p.Path, a.ID); err != nil {
			return fmt.Errorf("notes: store the note of action %s: %w", a.ID, err)
		}
	}
	file := fileRow{Path: p.Path, AccountID: a.AccountID, MessageID: a.MessageID, ThreadID: p.ThreadID,
		SHA256: safefolder.HashOf(p.Content), Earlier: p.Earlier, WrittenAt: now}
	if err := saveFile(ctx, tx, file); err != nil {
		return err
	}
	for _, w := range p.Files {
		file.Path, file.SHA256, file.Earlier, file.Attached = w.Path, w.SHA256, "", 1
		if err := saveFile(ctx, tx, file); err != nil {
			return err
		}
	}
	return nil
}
