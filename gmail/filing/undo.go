package filing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

var errForgotten = queue.Fatal(errors.New("filing: what is known of these files was forgotten when their mailbox was " +
	"removed; they stay: delete them yourself if you do not want them"))

// A removal is what the undo of an action does. It is stored before it is done.
type removal struct {
	Files []removed `json:"files"`
}

// A removed file is one that the action no longer wants.
type removed struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Keep   bool   `json:"keep,omitempty"` // another action wants it
}

// takeBack undoes an action: files that no other action wants are removed.
func (c *Cabinet) takeBack(ctx context.Context, run postroom.Run, a postroom.Action) (_ postroom.Commit, err error) {
	p, err := c.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(p.explain(err), p.close()) }()
	r, err := postroom.Step(ctx, run, "remove", func(ctx context.Context) (removal, error) {
		return c.planRemoval(ctx, a)
	})
	if err != nil {
		return nil, err
	}
	var gone []removed
	var edited []string
	if len(r.Files) > 0 {
		err = c.fenced(ctx, run, func() (err error) {
			gone, edited, err = r.carryOut(ctx, p)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	commit := func(ctx context.Context, tx postroom.Tx) error { return forgetFiles(ctx, tx, a, gone) }
	if len(edited) == 0 {
		return commit, nil
	}
	if err := c.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return commit(ctx, tx) }); err != nil {
		return nil, err
	}
	return nil, queue.Fatal(fmt.Errorf("filing: files removed: %d of %d; %s: %w", len(gone), len(r.Files),
		strings.Join(edited, ", "), ErrEdited))
}

func (c *Cabinet) planRemoval(ctx context.Context, a postroom.Action) (r removal, err error) {
	var rows []fileRow
	if err := dbquery.Select(ctx, c.cfg.DB.Reader(), &rows, sqlFilesOfAction, a.ID); err != nil {
		return r, fmt.Errorf("filing: read the files of action %s: %w", a.ID, err)
	}
	if a.UndoHint != nil && len(rows) == 0 {
		if paths, _ := a.UndoHint.Undo.Texts(hintFiles); len(paths) > 0 {
			return r, errForgotten
		}
	}
	for _, row := range rows {
		var others int
		err := dbquery.Get(ctx, c.cfg.DB.Reader(), &others, sqlOthersWant, a.AccountID, a.MessageID, row.SHA256, a.ID)
		if err != nil {
			return r, fmt.Errorf("filing: read who wants %s: %w", row.Path, err)
		}
		r.Files = append(r.Files, removed{row.Path, row.SHA256, others > 0})
	}
	return r, nil
}

// carryOut removes the files, and returns those that the action has no more, and the paths of those that were edited.
func (r removal) carryOut(ctx context.Context, p place) (gone []removed, edited []string, err error) {
	for _, f := range r.Files {
		ok := f.Keep
		if !ok {
			if ok, err = p.remove(ctx, f.Path, f.SHA256); err != nil {
				return nil, nil, err
			}
		}
		if ok {
			gone = append(gone, f)
		} else {
			edited = append(edited, f.Path)
		}
	}
	return gone, edited, nil
}

// forgetFiles records that an action has no more files, and which of them are gone.
func forgetFiles(ctx context.Context, tx postroom.Tx, a postroom.Action, gone []removed) error {
	for _, f := range gone {
		_, err := dbquery.Exec(ctx, tx, sqlDeleteAction, a.ID, f.SHA256)
		if err == nil && !f.Keep {
			_, err = dbquery.Exec(ctx, tx, sqlDeleteFile, a.AccountID, a.MessageID, f.SHA256)
		}
		if err != nil {
			return fmt.Errorf("filing: store that %s is removed: %w", f.Path, err)
		}
	}
	return nil
}
