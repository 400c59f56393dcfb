// Package editor changes the rules of mailboxes: those that are stored, and the YAML file that they are read from,
// whose comments stay. [Editor.Change] writes both or neither, and refuses to write over what a person has edited
// meanwhile.
package editor

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

// A Editor changes the rules of mailboxes: those that are stored, and the file that they are read from.
type Editor struct {
	env   *environment.Environment
	db    queue.DB
	queue *queue.Queue
	mail  *mailstore.Store
	rules *rulestore.Store
}

// New returns an editor of the rules that are stored in db, and of the files of env.
func New(
	env *environment.Environment, db queue.DB, q *queue.Queue, mail *mailstore.Store, stored *rulestore.Store,
) *Editor {
	return &Editor{env: env, db: db, queue: q, mail: mail, rules: stored}
}

// Current returns the configured file, or otherwise a file made of the rules that are stored for the mailbox.
func (e *Editor) Current(ctx context.Context, accountID string) (*rulesfile.File, error) {
	path, err := e.Path(ctx, accountID)
	if err != nil {
		return nil, err
	}
	if file, err := e.env.ReadRules(path); file != nil || err != nil {
		return file, err
	}
	text, err := e.rulesText(ctx, e.db.Reader(), accountID, path)
	if err != nil {
		return nil, err
	}
	return e.Written(path, text)
}

// Written reads the text of the rules in use, which is empty where there are none yet.
func (e *Editor) Written(path, text string) (*rulesfile.File, error) {
	return e.Parse(path, cmp.Or(text, "rules: []\n"))
}

// Path returns the path of the file that is configured for the mailbox; empty if there is none. An empty id stands for
// the rules of all mailboxes.
func (e *Editor) Path(ctx context.Context, accountID string) (string, error) {
	if accountID == "" {
		return string(e.env.Config.Paths.Rules), nil
	}
	account, err := e.mail.Account(ctx, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return "", errMailboxGone
	}
	return e.env.RulesPath(account.Email), err
}

// errMailboxGone reports that there are rules, but no mailbox of theirs.
var errMailboxGone = usage.Errorf(
	"the mailbox of these rules is not here any more; 'postroomd accounts list' lists those that are")

// rulesText returns the text of the mailbox's file, empty if it does not exist, or, without a path, a text of the rules
// that are stored for the mailbox. q is the transaction, or outside of one the pool for queries.
func (e *Editor) rulesText(ctx context.Context, q queue.Tx, accountID, path string) (string, error) {
	if path != "" {
		return readRulesFile(path)
	}
	v, err := e.rules.NewestTx(ctx, q, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return e.versionText(ctx, q, v)
}

// Parse reads the text of rules of the file at path, which may be empty.
func (e *Editor) Parse(path, text string) (*rulesfile.File, error) { return e.parse(path, text) }

func (e *Editor) parse(path, text string, more ...rulesfile.ParseOption) (*rulesfile.File, error) {
	options := append(e.Options(path), more...)
	file, err := rulesfile.Parse(cmp.Or(path, "rules.yaml"), strings.NewReader(text), options...)
	if err != nil {
		return nil, usage.Wrap(err)
	}
	return file, nil
}

// Options returns the options for reading the rules of the file at path, which may be empty.
func (e *Editor) Options(path string) []rulesfile.ParseOption {
	options := []rulesfile.ParseOption{rulesfile.WithKinds(e.env.ActionKinds()), e.env.RefuseActions(),
		e.env.UnknownMeanings()}
	if path != "" {
		options = append(options, rulesfile.WithFiles(os.DirFS(filepath.Dir(path))))
	}
	return options
}

// Change replaces the rules by the file that change returns. If a file is configured, it does so for all mailboxes
// that read it, otherwise for the given one. It counts the changes for the given mailbox, and creates the labels that
// the file names. what is the source of the change; empty: none but the file.
//
// The file is what the next start reads. It is written last, just before the transaction commits, under a lock that
// all changes of rules take: if the process is killed in between, the file has changed, and the next start reads it.
// A person who edits the file takes no lock: if it has changed by then, it is not overwritten, and nothing changes.
func (e *Editor) Change(
	ctx context.Context, accountID, what string, change func(ctx context.Context, tx queue.Tx, current string) (
		*rulesfile.File, error),
) (done rulestore.Imported, err error) {
	path, err := e.Path(ctx, accountID)
	if err != nil {
		return done, err
	}
	readers, err := e.Readers(ctx, accountID)
	if err != nil {
		return done, err
	}
	var before, written string
	var existed bool
	err = e.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if err := e.rules.Lock(ctx, tx); err != nil {
			return err
		}
		_, missing := os.Stat(path)
		existed = missing == nil
		if before, err = e.rulesText(ctx, tx, accountID, path); err != nil {
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
		if err := Rewrite(path, before, changed.Source); err != nil {
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

// A Reader is a mailbox whose rules come from the file.
type Reader struct {
	accountID string
	address   string
	labelID   func(name string) (string, bool)
}

// Email is the address of the mailbox.
func (r Reader) Email() string { return r.address }

// Readers returns all mailboxes that read the file of the given one; that mailbox alone if it has none.
func (e *Editor) Readers(ctx context.Context, accountID string) ([]Reader, error) {
	accounts, err := e.mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(accounts, func(a mailstore.Account) bool { return a.ID == accountID })
	if i < 0 || accounts[i].State == mailstore.AccountRemoving {
		return nil, errMailboxGone
	}
	path := e.env.RulesPath(accounts[i].Email)
	var list []Reader
	for _, a := range accounts {
		reads := a.ID == accountID || path != "" && e.env.RulesPath(a.Email) == path
		if a.State == mailstore.AccountRemoving || !reads {
			continue
		}
		id, err := e.LabelIDs(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		list = append(list, Reader{a.ID, a.Email, id})
	}
	return list, nil
}

// storeRules stores the file as the rules of a mailbox, and creates the labels that it names.
func (e *Editor) storeRules(ctx context.Context, tx queue.Tx, reader Reader, what string,
	file *rulesfile.File) (rulestore.Imported, error) {
	own := file.For(reader.accountID, reader.address)
	if what != "" {
		own.Name = what + ": " + file.Name
	}
	own.ResolveLabels(reader.labelID)
	done, err := e.rules.ImportFile(ctx, tx, reader.accountID, own.ImportSource())
	if err != nil {
		return done, err
	}
	return done, gmail.EnsureLabels(ctx, tx, e.queue, e.mail, reader.accountID, own.NeededLabels(e.env.ActionKinds())...)
}

// VersionText returns the version as a file. A file made from rules uses the names of labels: ids belong to one
// mailbox.
func (e *Editor) VersionText(ctx context.Context, v *rulestore.VersionContent) (string, error) {
	return e.versionText(ctx, e.db.Reader(), v)
}

func (e *Editor) versionText(ctx context.Context, q queue.Tx, v *rulestore.VersionContent) (string, error) {
	switch {
	case v.HasSource:
		return v.Source, nil
	case v.AccountID == "":
		return string(rulesfile.Marshal(rulesfile.FileOf(v.List))), nil
	}
	labels, err := e.mail.LabelsTx(ctx, q, v.AccountID)
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
func (e *Editor) CheckOverwrite(ctx context.Context, tx queue.Tx, path, there, text string, overwrite bool) error {
	if there == "" || there == text || overwrite {
		return nil
	}
	known, err := e.rules.KnowsSourceTx(ctx, tx, there)
	if err == nil && !known {
		err = usage.Errorf("%s holds what no version does, and would be overwritten; copy it, and give --overwrite", path)
	}
	return err
}

// LabelIDs returns a function that finds the id of a label of the account by its name.
func (e *Editor) LabelIDs(ctx context.Context, accountID string) (id func(name string) (string, bool), err error) {
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
func (e *Editor) ReadFor(ctx context.Context, accountID, path string) ([]rules.Rule, error) {
	file, err := environment.ReadRulesFile(path, rulesfile.WithKinds(e.env.ActionKinds()))
	if err != nil {
		return nil, err
	}
	return e.of(ctx, file, accountID)
}

// ParseFor is [Editor.Parse] for one account: label names become ids.
func (e *Editor) ParseFor(ctx context.Context, accountID, path, text string) ([]rules.Rule, error) {
	file, err := e.Parse(path, text)
	if err != nil {
		return nil, err
	}
	return e.of(ctx, file, accountID)
}

// of returns the rules of a file as they are for one account.
func (e *Editor) of(ctx context.Context, file *rulesfile.File, accountID string) ([]rules.Rule, error) {
	account, err := e.mail.Account(ctx, accountID)
	if err != nil {
		return nil, err
	}
	id, err := e.LabelIDs(ctx, accountID)
	if err != nil {
		return nil, err
	}
	file = file.For(accountID, account.Email)
	file.ResolveLabels(id)
	for i := range file.Rules {
		file.Rules[i].AccountID = accountID
	}
	return file.Rules, nil
}
