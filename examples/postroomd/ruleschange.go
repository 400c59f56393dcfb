package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// currentRules returns the configured file, or otherwise a file made of the rules that are stored for the mailbox.
func (h *host) currentRules(ctx context.Context, accountID string) (*rulesfile.File, error) {
	if file, err := h.env.ReadRules(); file != nil || err != nil {
		return file, err
	}
	text, err := h.rulesText(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return h.parseRules(text)
}

// rulesText returns the text of the configured file, empty if it does not exist, or otherwise a text of the rules that are stored
// for the mailbox.
func (h *host) rulesText(ctx context.Context, accountID string) (string, error) {
	if path := string(h.env.Config.Paths.Rules); path != "" {
		return readRulesFile(path)
	}
	newest, err := h.rules.Versions(ctx, rules.VersionFilter{Account: &accountID, Limit: 1})
	if err != nil || len(newest) == 0 {
		return "", err
	}
	v, err := h.rules.Version(ctx, newest[0].Number)
	if err != nil {
		return "", err
	}
	if v.Altered {
		return "", alteredVersion(v)
	}
	return h.versionText(ctx, v)
}

// parseRules reads the text of rulesText.
func (h *host) parseRules(text string) (*rulesfile.File, error) {
	path := string(h.env.Config.Paths.Rules)
	file, err := rulesfile.Parse(cmp.Or(path, "rules.yaml"), strings.NewReader(text), h.rulesOptions()...)
	if err != nil {
		return nil, usage.Wrap(err)
	}
	return file, nil
}

// rulesOptions are the options for reading the rules.
func (h *host) rulesOptions() []rulesfile.ParseOption {
	options := []rulesfile.ParseOption{rulesfile.WithKinds(environment.Kinds), h.env.RefuseActions()}
	if path := string(h.env.Config.Paths.Rules); path != "" {
		options = append(options, rulesfile.WithFiles(os.DirFS(filepath.Dir(path))))
	}
	return options
}

// changeRules replaces the rules by the file that change returns. If a file is configured, it does so for all mailboxes that read
// it, otherwise for the given one. It counts the changes for the given mailbox, and creates the labels that the file names. what
// is the source of the change.
//
// The file is what the next start reads. It is written last, just before the transaction commits, under a lock that all changes
// of rules take: if the process is killed in between, the file has changed, and the next start reads it. A person who edits the
// file takes no lock: if it has changed by then, it is not overwritten, and nothing changes.
func (h *host) changeRules(
	ctx context.Context, accountID, what string, change func(ctx context.Context, tx queue.Tx, current string) (*rulesfile.File, error),
) (done rules.Imported, err error) {
	readers, err := h.rulesReaders(ctx, accountID)
	if err != nil {
		return done, err
	}
	path := string(h.env.Config.Paths.Rules)
	var before, written string
	var existed bool
	err = h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if err := h.rules.Lock(ctx, tx); err != nil {
			return err
		}
		_, missing := os.Stat(path)
		existed = missing == nil
		if before, err = h.rulesText(ctx, accountID); err != nil {
			return err
		}
		changed, err := change(ctx, tx, before)
		if err != nil {
			return err
		}
		for _, reader := range readers {
			counted, err := h.storeRules(ctx, tx, reader, what, changed)
			if err != nil {
				return err
			}
			if reader.accountID == accountID {
				done = counted
			}
		}
		if path == "" || changed.Source == before {
			return nil
		}
		if err := rewriteRules(path, before, changed.Source); err != nil {
			return err
		}
		written = changed.Source
		return nil
	})
	if err != nil && written != "" {
		err = errors.Join(err, putBack(path, before, written, existed))
	}
	return done, err
}

// A rulesReader is a mailbox whose rules come from the file.
type rulesReader struct {
	accountID string
	labelID   func(name string) (string, bool)
}

// rulesReaders returns all mailboxes if a file is configured, otherwise the given one.
func (h *host) rulesReaders(ctx context.Context, accountID string) ([]rulesReader, error) {
	accounts, err := h.mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	var list []rulesReader
	for _, a := range accounts {
		if a.State == gmail.AccountRemoving || h.env.Config.Paths.Rules == "" && a.ID != accountID {
			continue
		}
		id, err := h.labelIDs(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		list = append(list, rulesReader{a.ID, id})
	}
	if !slices.ContainsFunc(list, func(r rulesReader) bool { return r.accountID == accountID }) {
		return nil, usage.Errorf("the mailbox of these rules is not here any more; 'postroomd accounts list' lists those that are")
	}
	return list, nil
}

// storeRules stores the file as the rules of a mailbox, and creates the labels that it names.
func (h *host) storeRules(ctx context.Context, tx queue.Tx, reader rulesReader, what string, file *rulesfile.File) (rules.Imported, error) {
	own := *file
	own.Name = what + ": " + file.Name
	own.Rules = slices.Clone(file.Rules)
	own.ResolveLabels(reader.labelID)
	done, err := h.rules.ImportFile(ctx, tx, reader.accountID, own.ImportSource())
	if err != nil {
		return done, err
	}
	_, err = h.queue.EnqueueTx(ctx, tx, gmail.NewLabelsSyncJob(reader.accountID, own.NeededLabels(environment.Kinds)...))
	return done, err
}
