package editor

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// CheckNewest refuses with [ErrChanged] if a version is not the newest of the rules of a mailbox: who goes back has
// seen others than those that are there.
func (e *Editor) CheckNewest(ctx context.Context, accountID string, number int64) error {
	newest, err := e.rules.Versions(ctx, rulestore.VersionFilter{Account: &accountID, Limit: 1})
	if err == nil && (len(newest) == 0 || newest[0].Number != number) {
		err = usage.Wrap(ErrChanged)
	}
	return err
}

// Restore goes back to a version of the rules, in its mailbox, or, if a file is configured, in all mailboxes that read
// it; that makes a version. The file is written as well; written is its path if that has changed it. A file that holds
// what no version does is kept, and nothing is changed, unless overwrite is set.
func (e *Editor) Restore(ctx context.Context, by string, v *rulestore.VersionContent, overwrite bool) (
	made *rulestore.Version, written string, err error) {
	restore := func(ctx context.Context, tx queue.Tx) (err error) {
		made, err = e.rules.As(rulestore.Author{Name: by, Origin: rulestore.OriginRestore}).Restore(ctx, tx, v.Number)
		return err
	}
	path, err := e.Path(ctx, v.AccountID)
	if err != nil {
		return nil, "", err
	}
	if path == "" || v.AccountID == "" {
		err = e.db.Write(ctx, restore)
		return made, "", err
	}
	text, err := e.VersionText(ctx, v)
	if err != nil {
		return nil, "", err
	}
	file, err := e.Parse(path, text)
	if err != nil {
		return nil, "", usage.Errorf("version %d cannot be read as a file any more, and nothing is changed: %w",
			v.Number, err)
	}
	_, err = e.Change(ctx, v.AccountID, fmt.Sprintf("version %d", v.Number),
		func(ctx context.Context, tx queue.Tx, there string) (*rulesfile.File, error) {
			if err := e.CheckOverwrite(ctx, tx, path, there, text, overwrite); err != nil {
				return nil, err
			}
			if there != text {
				written = path
			}
			return file, restore(ctx, tx)
		})
	return made, written, err
}
