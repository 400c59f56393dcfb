package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// A RuleEditor changes the rules of mailboxes: those that are stored, and the file that they are read from.
type RuleEditor struct {
	env   *environment.Environment
	db    queue.DB
	queue *queue.Queue
	mail  *mailstore.Store
	rules *rulestore.Store
}

// Current returns the configured file, or otherwise a file made of the rules that are stored for the mailbox.
func (e *RuleEditor) Current(ctx context.Context, accountID string) (*rulesfile.File, error) {
	if file, err := e.env.ReadRules(); file != nil || err != nil {
		return file, err
	}
	text, err := e.rulesText(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return e.Parse(text)
}

// rulesText returns the text of the configured file, empty if it does not exist, or otherwise a text of the rules that are stored
// for the mailbox.
func (e *RuleEditor) rulesText(ctx context.Context, accountID string) (string, error) {
	if path := string(e.env.Config.Paths.Rules); path != "" {
		return readRulesFile(path)
	}
	newest, err := e.rules.Versions(ctx, rulestore.VersionFilter{Account: &accountID, Limit: 1})
	if err != nil || len(newest) == 0 {
		return "", err
	}
	v, err := e.rules.Version(ctx, newest[0].Number)
	if err != nil {
		return "", err
	}
	return e.VersionText(ctx, v)
}

// Parse reads the text of rulesText.
func (e *RuleEditor) Parse(text string) (*rulesfile.File, error) {
	path := string(e.env.Config.Paths.Rules)
	file, err := rulesfile.Parse(cmp.Or(path, "rules.yaml"), strings.NewReader(text), e.rulesOptions()...)
	if err != nil {
		return nil, usage.Wrap(err)
	}
	return file, nil
}

// rulesOptions are the options for reading the rules.
func (e *RuleEditor) rulesOptions() []rulesfile.ParseOption {
	options := []rulesfile.ParseOption{rulesfile.WithKinds(environment.Kinds), e.env.RefuseActions()}
	if path := string(e.env.Config.Paths.Rules); path != "" {
		options = append(options, rulesfile.WithFiles(os.DirFS(filepath.Dir(path))))
	}
	return options
}

// Change replaces the rules by the file that change returns. If a file is configured, it does so for all mailboxes that read
// it, otherwise for the given one. It counts the changes for the given mailbox, and creates the labels that the file names. what
// is the source of the change.
//
// The file is what the next start reads. It is written last, just before the transaction commits, under a lock that all changes
// of rules take: if the process is killed in between, the file has changed, and the next start reads it. A person who edits the
// file takes no lock: if it has changed by then, it is not overwritten, and nothing changes.
func (e *RuleEditor) Change(
	ctx context.Context, accountID, what string, change func(ctx context.Context, tx queue.Tx, current string) (*rulesfile.File, error),
) (done rulestore.Imported, err error) {
	readers, err := e.Readers(ctx, accountID)
	if err != nil {
		return done, err
	}
	path := string(e.env.Config.Paths.Rules)
	var before, written string
	var existed bool
	err = e.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if err := e.rules.Lock(ctx, tx); err != nil {
			return err
		}
		_, missing := os.Stat(path)
		existed = missing == nil
		if before, err = e.rulesText(ctx, accountID); err != nil {
			return err
		}
		changed, err := change(ctx, tx, before)
		if err != nil {
			return err
		}
		for _, reader := range readers {
			counted, err := e.storeRules(ctx, tx, reader, what, changed)
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
		if err := RewriteRulesFile(path, before, changed.Source); err != nil {
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

// Readers returns all mailboxes if a file is configured, otherwise the given one.
func (e *RuleEditor) Readers(ctx context.Context, accountID string) ([]rulesReader, error) {
	accounts, err := e.mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	var list []rulesReader
	for _, a := range accounts {
		if a.State == mailstore.AccountRemoving || e.env.Config.Paths.Rules == "" && a.ID != accountID {
			continue
		}
		id, err := e.LabelIDs(ctx, a.ID)
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
func (e *RuleEditor) storeRules(ctx context.Context, tx queue.Tx, reader rulesReader, what string, file *rulesfile.File) (rulestore.Imported, error) {
	own := *file
	own.Name = what + ": " + file.Name
	own.Rules = slices.Clone(file.Rules)
	own.ResolveLabels(reader.labelID)
	done, err := e.rules.ImportFile(ctx, tx, reader.accountID, own.ImportSource())
	if err != nil {
		return done, err
	}
	_, err = e.queue.EnqueueTx(ctx, tx, gmail.NewLabelsSyncJob(reader.accountID, own.NeededLabels(environment.Kinds)...))
	return done, err
}

// VersionText returns the version as a file. A file made from rules uses the names of labels: ids belong to one mailbox.
func (e *RuleEditor) VersionText(ctx context.Context, v *rulestore.VersionContent) (string, error) {
	switch {
	case v.HasSource:
		return v.Source, nil
	case v.AccountID == "":
		return string(rulesfile.Marshal(rulesfile.FileOf(v.List))), nil
	}
	labels, err := e.mail.Labels(ctx, v.AccountID)
	if err != nil {
		return "", err
	}
	named := rulesfile.File{Rules: slices.Clone(v.List)}
	named.ResolveLabels(func(id string) (string, bool) {
		i := slices.IndexFunc(labels, func(l postroom.Label) bool { return l.ID == id })
		if i < 0 {
			return "", false
		}
		return labels[i].Name, true
	})
	return string(rulesfile.Marshal(rulesfile.FileOf(named.Rules))), nil
}

// CheckOverwrite refuses to lose rules that no version has.
func (e *RuleEditor) CheckOverwrite(ctx context.Context, path, there, text string, overwrite bool) error {
	if there == "" || there == text || overwrite {
		return nil
	}
	known, err := e.rules.KnowsSource(ctx, there)
	if err == nil && !known {
		err = usage.Errorf("%s holds what no version does, and would be overwritten; copy it, and give --overwrite", path)
	}
	return err
}

// LabelIDs returns a function that finds the id of a label of the account by its name.
func (e *RuleEditor) LabelIDs(ctx context.Context, accountID string) (id func(name string) (string, bool), err error) {
	labels, err := e.mail.Labels(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return func(name string) (string, bool) {
		i := slices.IndexFunc(labels, func(l postroom.Label) bool { return strings.EqualFold(l.Name, name) })
		if i < 0 {
			return "", false
		}
		return labels[i].ID, true
	}, nil
}

// ReadFor reads a rules file for one account: label names become ids.
func (e *RuleEditor) ReadFor(ctx context.Context, accountID, path string) ([]rules.Rule, error) {
	file, err := environment.ReadRulesFile(path)
	if err != nil {
		return nil, err
	}
	id, err := e.LabelIDs(ctx, accountID)
	if err != nil {
		return nil, err
	}
	file.ResolveLabels(id)
	for i := range file.Rules {
		file.Rules[i].AccountID = accountID
	}
	return file.Rules, nil
}
