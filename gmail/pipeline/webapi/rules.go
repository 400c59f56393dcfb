package webapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// A rulesAPI lists and changes the stored rules. Rules that come from elsewhere, such as a file, must be changed there:
// its next reading would revert a change here.
type rulesAPI struct{ *api }

func ruleCalls(a *api) map[string]Call {
	r := rulesAPI{a}
	return Objects{r.list, r.create, r.show, r.patch, r.remove, r.swap}.Calls(a.cfg.Prefix + "/rules")
}

// Objects are the calls that list and change objects of one kind in a uniform way.
type Objects struct{ List, Create, Show, Patch, Remove, Swap Call }

// Calls returns the calls by pattern, for the path of the kind.
func (k Objects) Calls(path string) map[string]Call {
	return map[string]Call{
		"GET " + path:                 k.List,
		"POST " + path:                k.Create,
		"GET " + path + "/{id}":       k.Show,
		"PATCH " + path + "/{id}":     k.Patch,
		"DELETE " + path + "/{id}":    k.Remove,
		"POST " + path + "/{id}/swap": k.Swap,
	}
}

// A SwapBody names the object to exchange priorities with.
type SwapBody struct {
	With string `json:"with"`
}

// A Removed is the answer to a deletion.
type Removed struct {
	ID string `json:"id"`
}

// list lists the rules in the order in which they are tried: all rules, or with account_id those of an account.
func (a rulesAPI) list(r *http.Request) (any, error) {
	all, err := a.Rules.List(r.Context())
	if err != nil {
		return nil, err
	}
	list, caller := []Rule{}, CallerOf(r)
	for _, rule := range all {
		query := r.URL.Query()
		if caller.sees(rule.AccountID) && (!query.Has("account_id") || rule.AccountID == query.Get("account_id")) {
			list = append(list, newRule(rule))
		}
	}
	return list, nil
}

func (a rulesAPI) show(r *http.Request) (any, error) {
	rule, err := a.Rules.Get(r.Context(), r.PathValue("id"))
	if err == nil && !CallerOf(r).sees(rule.AccountID) {
		err = fmt.Errorf("rule %q: %w", r.PathValue("id"), postroom.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return newRule(*rule), nil
}

func (a rulesAPI) create(r *http.Request) (any, error) {
	body := newRule(rules.NewRule("", rules.Condition{}, "", nil))
	body.AccountID = CallerOf(r).AccountID
	if err := ReadBody(r, &body); err != nil {
		return nil, err
	}
	if err := MadeHere(body.ID, body.CreatedAt, body.UpdatedAt, body.Revision); err != nil {
		return nil, err
	}
	rule := body.rule()
	if err := KnowsAccounts(r.Context(), a.Mail, rule.AccountID, scopeAccount(&rule)); err != nil {
		return nil, err
	}
	return a.write(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		return store.Create(ctx, tx, rule)
	})
}

func (a rulesAPI) patch(r *http.Request) (any, error) {
	var p rulestore.Patch
	if err := ReadBody(r, &p); err != nil {
		return nil, err
	}
	return a.writeSeen(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		return store.Patch(ctx, tx, r.PathValue("id"), p)
	})
}

func (a rulesAPI) remove(r *http.Request) (any, error) {
	_, err := a.writeSeen(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		return &rules.Rule{AccountID: CallerOf(r).AccountID}, store.Delete(ctx, tx, r.PathValue("id"))
	})
	return Removed{r.PathValue("id")}, err
}

// swap exchanges the priorities of two rules, and returns the one of the path.
func (a rulesAPI) swap(r *http.Request) (any, error) {
	var body SwapBody
	if err := ReadBody(r, &body); err != nil {
		return nil, err
	}
	if other, err := a.Rules.Get(r.Context(), body.With); err == nil && !CallerOf(r).sees(other.AccountID) {
		return nil, fmt.Errorf("rule %q: %w", body.With, postroom.ErrNotFound)
	}
	_, err := a.writeSeen(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		return &rules.Rule{AccountID: CallerOf(r).AccountID}, store.Swap(ctx, tx, r.PathValue("id"), body.With)
	})
	if err != nil {
		return nil, err
	}
	return a.show(r)
}

type ruleChange = func(context.Context, queue.Tx, *rulestore.Store) (*rules.Rule, error)

// writeSeen changes the rule of the path, if it exists for the caller.
func (a rulesAPI) writeSeen(r *http.Request, change ruleChange) (any, error) {
	if err := a.mayChange(); err != nil {
		return nil, err
	}
	if CallerOf(r).AccountID != "" {
		if _, err := a.show(r); err != nil {
			return nil, err
		}
	}
	return a.write(r, change)
}

// mayChange returns an error if rules are not changed here.
func (a rulesAPI) mayChange() error {
	if a.cfg.FixedRules == "" {
		return nil
	}
	return WithStatus(http.StatusConflict, errors.New(a.cfg.FixedRules))
}

// write changes the stored rules on behalf of the caller.
func (a rulesAPI) write(r *http.Request, change ruleChange) (any, error) {
	if err := a.mayChange(); err != nil {
		return nil, err
	}
	caller := CallerOf(r)
	store := a.Rules.As(rulestore.Author{Name: caller.Name, Origin: rulestore.OriginAPI})
	accounts, err := a.Mail.Accounts(r.Context())
	if err != nil {
		return nil, err
	}
	var changed *rules.Rule
	err = a.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		if changed, err = change(ctx, tx, store); err != nil {
			return err
		}
		if !caller.sees(changed.AccountID) {
			return WithStatus(http.StatusForbidden, errors.New("you may act for one account, and this is a rule of others"))
		}
		if a.cfg.CheckRule != nil {
			if err := a.cfg.CheckRule(changed); err != nil {
				return WithStatus(http.StatusUnprocessableEntity, err)
			}
		}
		return a.makeLabels(ctx, tx, accounts, changed)
	})
	if err != nil {
		return nil, err
	}
	return newRule(*changed), nil
}

// makeLabels creates the labels that actions of the rule name, in the accounts of the rule.
func (a rulesAPI) makeLabels(ctx context.Context, tx queue.Tx, accounts []mailstore.Account, rule *rules.Rule) error {
	labels := rule.NeededLabels(a.Rules.Kinds())
	if len(labels) == 0 {
		return nil
	}
	only := cmp.Or(rule.AccountID, scopeAccount(rule))
	for _, account := range accounts {
		if account.State == mailstore.AccountRemoving || only != "" && only != account.ID {
			continue
		}
		if _, err := a.Queue.EnqueueTx(ctx, tx, gmail.NewLabelsSyncJob(account.ID, labels...)); err != nil {
			return err
		}
	}
	return nil
}

// scopeAccount returns the account of the scope of a rule; empty if the scope is no account.
func scopeAccount(rule *rules.Rule) string {
	if rule.Scope == rules.ScopeAccount {
		return rule.ScopeRef
	}
	return ""
}

// KnowsAccounts returns an error for an unknown account id; an empty one is permitted.
func KnowsAccounts(ctx context.Context, store *mailstore.Store, ids ...string) error {
	for _, id := range ids {
		if id == "" {
			continue
		}
		if _, err := store.Account(ctx, id); err != nil {
			return WithStatus(http.StatusUnprocessableEntity, fmt.Errorf("there is no account %q: %w", id, err))
		}
	}
	return nil
}
