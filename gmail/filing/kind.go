package filing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/safefolder"
	"github.com/postroom-go/postroom/queue"
)

// FileAttachments is the type of the action that keeps the files that are attached to its message.
const FileAttachments postroom.ActionType = "file_attachments"

// The parameters of the action.
const (
	paramNames    = "names"
	paramMinKB    = "min_kb"
	paramPath     = "path"
	paramPictures = "pictures"
)

var errNoCabinet = queue.Fatal(errors.New("filing: the kind has no Cabinet, which keeps files; give New's"))

// ErrEdited reports that files are not removed, because a person has edited them since they were written.
var ErrEdited = errors.New("edited since, and left as they are; delete them yourself if you do not want them")

// Kind returns the kind of action that keeps the files that are attached to a message. The function returns the cabinet
// when an action is carried out; a nil function, or one that returns nil, is for programs that only read rules.
func Kind(cabinet func() *Cabinet) postroom.Kind {
	of := func() (*Cabinet, error) {
		if cabinet != nil {
			if c := cabinet(); c != nil {
				return c, nil
			}
		}
		return nil, errNoCabinet
	}
	return postroom.Kind{
		Type: FileAttachments, Summary: "keep the files that are attached to the message", Danger: postroom.Reversible,
		Parameters: parameters(), Example: postroom.Parameters{}, Check: check,
		Ready: func(ctx context.Context, _ postroom.Action) error {
			c, err := of()
			if err != nil {
				return nil //nolint:nilerr // the Handler says so
			}
			p, err := c.open()
			if err != nil {
				return &postroom.HeldError{Reason: err.Error()}
			}
			return p.close()
		},
		Handler: func(ctx context.Context, run postroom.Run, a postroom.Action) (postroom.Outcome, error) {
			c, err := of()
			if err != nil {
				return postroom.Outcome{}, err
			}
			return c.file(ctx, run, a)
		},
		Undo: func(ctx context.Context, run postroom.Run, a postroom.Action) (postroom.Commit, error) {
			c, err := of()
			if err != nil {
				return nil, err
			}
			return c.takeBack(ctx, run, a)
		},
	}
}

func parameters() []postroom.Parameter {
	return []postroom.Parameter{
		{Name: paramNames, Type: postroom.TextsParameter,
			Summary: "patterns of the names of files, such as *.pdf; upper and lower case are the same; all files, if left out"},
		{Name: paramMinKB, Type: postroom.IntegerParameter, Min: 1, Max: MaxSize >> 10,
			Summary: "the smallest size of a file, in units of 1024 bytes; any, if left out"},
		{Name: paramPath, Type: postroom.TextParameter,
			Summary: "the path of a file without its ending, with variables; the configured one, if left out"},
		{Name: paramPictures, Type: postroom.BooleanParameter,
			Summary: "whether pictures that the text shows, such as logos, are files; false, if left out"},
	}
}

func check(p postroom.Parameters, _ time.Time) error {
	if _, err := selectionOf(p); err != nil {
		return err
	}
	if text, ok := p.Text(paramPath); ok {
		if err := CheckPath(text); err != nil {
			return fmt.Errorf("%s: %w", paramPath, err)
		}
	}
	return nil
}

// A choice is what an action files of its message. It is stored before anything is written.
type choice struct {
	Files []chosen `json:"files"`
	Said  string   `json:"said"` // what becomes of the files, for people
}

// A chosen file has the name that the sender gave it, and the hash of its content.
type chosen struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Size   int    `json:"size"`
}

// choose selects files, each content once.
func choose(s selection, files []File) (c choice) {
	seen := map[string]bool{}
	var large, more, unread int
	for _, f := range files {
		if !s.wants(f) {
			continue
		}
		sum := safefolder.HashOf(f.Content)
		switch {
		case seen[sum]:
		case f.Unread:
			unread++
		case len(f.Content) > MaxSize:
			large++
		case len(c.Files) == MaxFiles:
			more++
		default:
			c.Files = append(c.Files, chosen{f.Name, sum, len(f.Content)})
		}
		seen[sum] = true
	}
	switch {
	case len(files) == 0:
		c.Said = "the message has no attached files: nothing is filed"
	case len(seen) == 0:
		c.Said = fmt.Sprintf("the action wants none of the %d attached files: nothing is filed", len(files))
	default:
		c.Said = fmt.Sprintf("files filed: %d of %d", len(c.Files), len(files))
	}
	if large > 0 {
		c.Said += fmt.Sprintf("; not filed, since larger than %d MB: %d", MaxSize>>20, large)
	}
	if unread > 0 {
		c.Said += fmt.Sprintf("; not filed, since they cannot be read: %d", unread)
	}
	if more > 0 {
		c.Said += fmt.Sprintf("; not filed, since an action files %d at most: %d", MaxFiles, more)
	}
	return c
}

// A job is what one attempt of an action works with.
type job struct {
	*Cabinet
	place   place
	action  postroom.Action
	message *postroom.Message
	mailbox string
	path    safefolder.Template
	files   func() ([]File, error) // reads them once
}

func (c *Cabinet) newJob(ctx context.Context, p place, a postroom.Action) (j *job, err error) {
	j = &job{Cabinet: c, place: p, action: a}
	if j.message, err = c.cfg.Message(ctx, a.AccountID, a.MessageID); err != nil {
		return nil, fmt.Errorf("filing: read message %s: %w", a.MessageID, err)
	}
	if j.mailbox, err = c.cfg.Mailbox(ctx, a.AccountID); err != nil {
		return nil, fmt.Errorf("filing: read account %s: %w", a.AccountID, err)
	}
	text, ok := a.Parameters.Text(paramPath)
	if !ok {
		text = c.cfg.Path
	}
	if j.path, err = parsePath(text); err != nil {
		return nil, queue.Fatal(fmt.Errorf("filing: %s: %w", paramPath, err))
	}
	j.files = sync.OnceValues(func() ([]File, error) {
		files, err := c.cfg.Files(ctx, j.message)
		if err != nil {
			err = fmt.Errorf("filing: read the attached files of message %s: %w", a.MessageID, err)
		}
		return files, err
	})
	return j, nil
}

// file carries out an action.
func (c *Cabinet) file(ctx context.Context, run postroom.Run, a postroom.Action) (done postroom.Outcome, err error) {
	p, err := c.open()
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(p.explain(err), p.close()) }()
	j, err := c.newJob(ctx, p, a)
	if err != nil {
		return done, err
	}
	chosen, err := postroom.Step(ctx, run, "choose", func(context.Context) (choice, error) {
		s, err := selectionOf(a.Parameters)
		if err != nil {
			return choice{}, queue.Fatal(err)
		}
		files, err := j.files()
		return choose(s, files), err
	})
	if err != nil {
		return done, err
	}
	paths, err := j.write(ctx, run, chosen.Files)
	if err != nil {
		return done, err
	}
	done.Undo = postroom.Parameters{hintFiles: paths, hintSaid: chosen.Said}
	done.Commit = func(ctx context.Context, tx postroom.Tx) error { return record(ctx, tx, a, chosen.Files) }
	return done, nil
}

// The data of an action's undo.
const (
	hintFiles = "files" // the paths of the files
	hintSaid  = "said"  // what became of the attached files, for people
)

// Told returns what an action that was carried out has done with attached files: a sentence, and then the paths of
// those that it filed. It is nil for other actions.
func Told(a postroom.Action) []string {
	if a.Type != FileAttachments || a.UndoHint == nil {
		return nil
	}
	said, ok := a.UndoHint.Undo.Text(hintSaid)
	if !ok {
		return nil
	}
	paths, _ := a.UndoHint.Undo.Texts(hintFiles)
	return append([]string{said}, paths...)
}

// fenced calls a function that touches files, unless the process was taken for dead and another carries out its job by
// now: what it would write or remove is old.
func (c *Cabinet) fenced(ctx context.Context, run postroom.Run, call func() error) error {
	const name = "file"
	if err := run.StartStep(ctx, name); err != nil {
		return err
	}
	return c.outside(ctx, name, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		return call()
	})
}

// write writes files in their places, unless that was done for this message before, and returns their paths.
func (j *job) write(ctx context.Context, run postroom.Run, files []chosen) ([]string, error) {
	paths := make([]string, len(files))
	for {
		var todo []pending
		for i, f := range files {
			row, err := j.claim(ctx, f)
			if err != nil {
				return nil, err
			}
			if paths[i] = row.Path; row.Written == 0 {
				todo = append(todo, pending{f, row})
			}
		}
		if len(todo) == 0 {
			return paths, nil
		}
		var taken []fileRow // somebody has put other files there
		err := j.fenced(ctx, run, func() (err error) {
			taken, err = j.put(ctx, todo)
			return err
		})
		if err != nil || len(taken) == 0 {
			return paths, err
		}
		for _, row := range taken {
			if err := j.release(ctx, row); err != nil {
				return nil, err
			}
		}
	}
}

// A pending file is to be written in its place.
type pending struct {
	chosen
	row fileRow
}

// put writes files in their places, and returns the places that are taken.
func (j *job) put(ctx context.Context, todo []pending) (taken []fileRow, err error) {
	for _, f := range todo {
		content, err := j.content(f.chosen)
		if err != nil {
			return nil, err
		}
		placed, err := j.place.put(ctx, f.row.Path, content)
		if err != nil {
			return nil, err
		}
		if !placed {
			taken = append(taken, f.row)
		}
	}
	return taken, nil
}

// content returns what a file has, which an attempt before may have chosen.
func (j *job) content(f chosen) ([]byte, error) {
	files, err := j.files()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if len(file.Content) == f.Size && safefolder.HashOf(file.Content) == f.SHA256 {
			return file.Content, nil
		}
	}
	return nil, queue.Fatal(fmt.Errorf("filing: message %s has no longer the file %q that was chosen", j.action.MessageID,
		f.Name))
}

// at is when the message came.
func (j *job) at() time.Time {
	t := j.message.ReceivedAt
	if t.IsZero() {
		t = j.message.Date
	}
	return t.In(j.cfg.Zone)
}
