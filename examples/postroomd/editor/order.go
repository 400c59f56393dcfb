package editor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// Fixed says to people why the rules of a mailbox, or for the empty id those of all, are not changed one by one; empty
// if they are.
func (e *Editor) Fixed(ctx context.Context, accountID string) (string, error) {
	path, err := e.Path(ctx, accountID)
	if err != nil || path == "" {
		return "", err
	}
	return fmt.Sprintf("The rules are those of %s, and are changed there.", path), nil
}

// SetEnabled enables or disables a rule. The rules of a file are changed in the file, but for one that the program has
// disabled: enabling it is no change of the file.
func (e *Editor) SetEnabled(ctx context.Context, by, id string, enabled bool) error {
	rule, err := e.rules.Get(ctx, id)
	if err != nil {
		return err
	}
	fixed, err := e.Fixed(ctx, rule.AccountID)
	if err != nil {
		return err
	}
	if fixed != "" && (!enabled || rule.DisabledReason == "") {
		return usage.Errorf("%s", fixed)
	}
	return e.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return e.as(by).SetEnabled(ctx, tx, id, enabled)
	})
}

func (e *Editor) as(by string) *rulestore.Store {
	return e.rules.As(rulestore.Author{Name: by, Origin: rulestore.OriginAPI})
}

// priorityStep is the distance of the priorities of rules that are numbered anew.
const priorityStep = 10

// Move lets a rule be tried before the one before it, or after the one after it, of the same mailbox. Rules of equal
// priorities are numbered anew. A rule that is first or last already stays.
func (e *Editor) Move(ctx context.Context, by, id string, up bool) error {
	rule, err := e.rules.Get(ctx, id)
	if err != nil {
		return err
	}
	if fixed, err := e.Fixed(ctx, rule.AccountID); err != nil || fixed != "" {
		return cmp.Or(err, usage.Errorf("%s", fixed))
	}
	return e.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := e.rules.Lock(ctx, tx); err != nil {
			return err
		}
		all, err := e.rules.ListTx(ctx, tx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(r rules.Rule) bool { return r.ID == id })
		if at < 0 {
			return postroom.ErrNotFound
		}
		account := all[at].AccountID
		own := slices.DeleteFunc(all, func(r rules.Rule) bool { return r.AccountID != account })
		at = slices.IndexFunc(own, func(r rules.Rule) bool { return r.ID == id })
		to := at + 1
		if up {
			to = at - 1
		}
		if to < 0 || to == len(own) {
			return nil
		}
		if err := notAcross(all, own, own[at].Priority, own[to].Priority); err != nil {
			return err
		}
		if own[at].Priority != own[to].Priority {
			return e.as(by).Swap(ctx, tx, id, own[to].ID)
		}
		own[at], own[to] = own[to], own[at]
		return e.number(ctx, tx, by, own)
	})
}

// notAcross refuses to move rules of a mailbox past a rule of all mailboxes, of which the person sees nothing there.
// Rules of equal priorities are numbered anew, which moves all of them.
func notAcross(all, own []rules.Rule, a, b int) error {
	low, high := min(a, b), max(a, b)
	if a == b {
		low = min(own[0].Priority, priorityStep)
		high = max(own[len(own)-1].Priority, len(own)*priorityStep)
	}
	for i := range all {
		if p := all[i].Priority; all[i].AccountID == "" && low <= p && p <= high {
			return usage.Errorf("The rule %q of all mailboxes has the priority %d, between them: "+
				"give these rules other priorities in the editor.", all[i].Name, p)
		}
	}
	return nil
}

// number gives rules priorities in their order.
func (e *Editor) number(ctx context.Context, tx queue.Tx, by string, list []rules.Rule) error {
	for i := range list {
		priority := (i + 1) * priorityStep
		if list[i].Priority == priority {
			continue
		}
		if _, err := e.as(by).Patch(ctx, tx, list[i].ID, rulestore.Patch{Priority: &priority}); err != nil {
			return err
		}
	}
	return nil
}

// Text returns the rules of a mailbox as a file, as they are now.
func (e *Editor) Text(ctx context.Context, accountID string) (string, error) {
	path, err := e.Path(ctx, accountID)
	if err != nil {
		return "", err
	}
	return e.rulesText(ctx, e.db.Reader(), accountID, path)
}

// ErrChanged reports that the rules are not those any more that a change was made from.
var ErrChanged = errors.New("the rules have been changed meanwhile: keep your text, read them again, and repeat the change")

// Digest tells one text of rules from another.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Save replaces the rules of a mailbox, and the configured file, by those of a file, if they still are what was read
// as before; else it fails with [ErrChanged]. by is the person whose change it is.
func (e *Editor) Save(ctx context.Context, accountID, by, before string, file *rulesfile.File) (
	rulestore.Imported, error,
) {
	named := *e
	named.rules = e.as(by)
	return named.Change(ctx, accountID, "", func(_ context.Context, _ queue.Tx, current string) (*rulesfile.File, error) {
		if current != before {
			return nil, usage.Wrap(ErrChanged)
		}
		return file, nil
	})
}
