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

func ruleRoutes(a *api) []Route {
	r := rulesAPI{a}
	of := r.accountOf
	return []Route{
		Handle(Route{Method: http.MethodGet, Path: "/rules", Scope: See, Account: ByQuery,
			Summary: "List the rules in the order in which they are tried"}, r.list),
		Handle(Route{Method: http.MethodPost, Path: "/rules", Scope: Own, Account: ByBody,
			Summary: "Create a rule"}, r.create),
		Handle(Route{Method: http.MethodGet, Path: "/rules/{id}", Scope: See, Account: of, Summary: "Show a rule"}, r.show),
		Handle(Route{Method: http.MethodPatch, Path: "/rules/{id}", Scope: Own, Account: of,
			Summary: "Change the fields of a rule that the body has"}, r.patch),
		Handle(Route{Method: http.MethodDelete, Path: "/rules/{id}", Scope: Own, Account: of, Summary: "Delete a rule"},
			r.remove),
		Handle(Route{Method: http.MethodPost, Path: "/rules/{id}/swap", Scope: Own, Account: of,
			Summary: "Exchange the priorities of two rules"}, r.swap),
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

// An AccountFilter selects what is of one account.
type AccountFilter struct {
	AccountID string `jsonschema:"only of this account" query:"account_id"`
}

// list lists the rules in the order in which they are tried: all rules, or with account_id those of an account.
func (a rulesAPI) list(r *http.Request, in AccountFilter) ([]Rule, error) {
	all, err := a.Rules.List(r.Context())
	if err != nil {
		return nil, err
	}
	list, caller, filtered := []Rule{}, CallerOf(r), r.URL.Query().Has("account_id")
	for _, rule := range all {
		if caller.sees(rule.AccountID) && (!filtered || rule.AccountID == in.AccountID) {
			list = append(list, newRule(rule))
		}
	}
	return list, nil
}

func (a rulesAPI) show(r *http.Request, _ None) (Rule, error) {
	rule, err := a.Rules.Get(r.Context(), r.PathValue("id"))
	if err == nil && !CallerOf(r).sees(rule.AccountID) {
		err = fmt.Errorf("rule %q: %w", r.PathValue("id"), postroom.ErrNotFound)
	}
	if err != nil {
		return Rule{}, err
	}
	return newRule(*rule), nil
}

// accountOf returns the account of the rule of the path.
func (a rulesAPI) accountOf(r *http.Request) (string, error) {
	rule, err := a.Rules.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return "", err
	}
	return cmp.Or(rule.AccountID, AllAccounts), nil
}

// A NewRule is the body that creates a rule: an omitted field has its default.
type NewRule struct{ Rule }

// SetDefaults sets what a body may omit.
func (b *NewRule) SetDefaults(r *http.Request) {
	b.Rule = newRule(rules.NewRule("", rules.Condition{}, "", nil))
	b.AccountID = CallerOf(r).AccountID
}

func (a rulesAPI) create(r *http.Request, body NewRule) (made Rule, err error) {
	if err := MadeHere(body.ID, body.CreatedAt, body.UpdatedAt, body.Revision); err != nil {
		return made, err
	}
	rule := body.rule()
	return a.write(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		if err := KnowsAccounts(ctx, tx, a.Mail, rule.AccountID, scopeAccount(&rule)); err != nil {
			return nil, err
		}
		return store.Create(ctx, tx, rule)
	})
}

func (a rulesAPI) patch(r *http.Request, p rulestore.Patch) (Rule, error) {
	return a.writeSeen(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		return store.Patch(ctx, tx, r.PathValue("id"), p)
	})
}

func (a rulesAPI) remove(r *http.Request, _ None) (Removed, error) {
	_, err := a.writeSeen(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		return &rules.Rule{AccountID: CallerOf(r).AccountID}, store.Delete(ctx, tx, r.PathValue("id"))
	})
	return Removed{r.PathValue("id")}, err
}

// swap exchanges the priorities of two rules, and returns the one of the path.
func (a rulesAPI) swap(r *http.Request, body SwapBody) (Rule, error) {
	if other, err := a.Rules.Get(r.Context(), body.With); err == nil && !CallerOf(r).sees(other.AccountID) {
		return Rule{}, fmt.Errorf("rule %q: %w", body.With, postroom.ErrNotFound)
	}
	_, err := a.writeSeen(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		return &rules.Rule{AccountID: CallerOf(r).AccountID}, store.Swap(ctx, tx, r.PathValue("id"), body.With)
	})
	if err != nil {
		return Rule{}, err
	}
	return a.show(r, None{})
}

type ruleChange = func(context.Context, queue.Tx, *rulestore.Store) (*rules.Rule, error)

// writeSeen changes the rule of the path, if it exists for the caller and is the one that If-Match names.
func (a rulesAPI) writeSeen(r *http.Request, change ruleChange) (Rule, error) {
	if err := a.mayChange(); err != nil {
		return Rule{}, err
	}
	if _, err := a.show(r, None{}); err != nil && CallerOf(r).AccountID != "" {
		return Rule{}, err
	}
	return a.write(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		if r.Header.Get("If-Match") == "" {
			return change(ctx, tx, store)
		}
		if err := store.Lock(ctx, tx); err != nil {
			return nil, err
		}
		rule, err := store.GetTx(ctx, tx, r.PathValue("id")) // nobody else changes it meanwhile
		if err != nil {
			return nil, err
		}
		if err := CheckMatch(r, rule.Revision); err != nil {
			return nil, err
		}
		return change(ctx, tx, store)
	})
}

// mayChange returns an error if rules are not changed here.
func (a rulesAPI) mayChange() error {
	if a.cfg.FixedRules == "" {
		return nil
	}
	return WithStatus(http.StatusConflict, errors.New(a.cfg.FixedRules))
}

// write changes the stored rules on behalf of the caller.
func (a rulesAPI) write(r *http.Request, change ruleChange) (Rule, error) {
	if err := a.mayChange(); err != nil {
		return Rule{}, err
	}
	caller := CallerOf(r)
	store := a.Rules.As(rulestore.Author{Name: caller.Name, Origin: rulestore.OriginAPI})
	accounts, err := a.Mail.Accounts(r.Context())
	if err != nil {
		return Rule{}, err
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
		return Rule{}, err
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
		if err := gmail.EnsureLabels(ctx, tx, a.Queue, a.Mail, account.ID, labels...); err != nil {
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
func KnowsAccounts(ctx context.Context, tx queue.Tx, store *mailstore.Store, ids ...string) error {
	for _, id := range ids {
		if id == "" {
			continue
		}
		if _, err := store.AccountTx(ctx, tx, id); err != nil {
			return WithStatus(http.StatusUnprocessableEntity, fmt.Errorf("there is no account %q: %w", id, err))
		}
	}
	return nil
}
