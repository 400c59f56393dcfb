package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// A rulesAPI lists and changes the stored rules. Rules of a file must be changed there: its next reading would revert a change
// here.
type rulesAPI struct{ httpAPI }

func (a rulesAPI) calls() map[string]call {
	return apiKind{a.list, a.create, a.show, a.patch, a.remove, a.swap}.calls("rules")
}

// list lists the rules in the order in which they are tried: all rules, or with account_id those of a mailbox.
func (a rulesAPI) list(r *http.Request) (any, error) {
	all, err := a.app.Rules.List(r.Context())
	if err != nil {
		return nil, err
	}
	list := []view.StoredRule{}
	for _, rule := range all {
		if query := r.URL.Query(); !query.Has("account_id") || rule.AccountID == query.Get("account_id") {
			list = append(list, view.NewStoredRule(rule))
		}
	}
	return list, nil
}

func (a rulesAPI) show(r *http.Request) (any, error) {
	rule, err := a.app.Rules.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return view.NewStoredRule(*rule), nil
}

func (a rulesAPI) create(r *http.Request) (any, error) {
	body := view.NewStoredRule(rules.NewRule("", rules.Condition{}, "", nil))
	if err := readBody(r, &body); err != nil {
		return nil, err
	}
	if err := madeHere(body.ID, body.CreatedAt, body.UpdatedAt, body.Revision); err != nil {
		return nil, err
	}
	rule := body.Rule()
	if err := knowsAccounts(r.Context(), a.app, rule.AccountID, accountRef(rule.Scope == rules.ScopeAccount, rule.ScopeRef)); err != nil {
		return nil, err
	}
	return a.write(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		return store.Create(ctx, tx, rule)
	})
}

func (a rulesAPI) patch(r *http.Request) (any, error) {
	var p rulestore.Patch
	if err := readBody(r, &p); err != nil {
		return nil, err
	}
	return a.write(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		return store.Patch(ctx, tx, r.PathValue("id"), p)
	})
}

func (a rulesAPI) remove(r *http.Request) (any, error) {
	_, err := a.write(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		return new(rules.Rule), store.Delete(ctx, tx, r.PathValue("id"))
	})
	return goneView{r.PathValue("id")}, err
}

// swap exchanges the priorities of two rules, and returns the one of the path.
func (a rulesAPI) swap(r *http.Request) (any, error) {
	var body swapBody
	if err := readBody(r, &body); err != nil {
		return nil, err
	}
	_, err := a.write(r, func(ctx context.Context, tx queue.Tx, store *rulestore.Store) (*rules.Rule, error) {
		return new(rules.Rule), store.Swap(ctx, tx, r.PathValue("id"), body.With)
	})
	if err != nil {
		return nil, err
	}
	return a.show(r)
}

// write changes the stored rules on behalf of the API.
func (a rulesAPI) write(r *http.Request, change func(context.Context, queue.Tx, *rulestore.Store) (*rules.Rule, error)) (any, error) {
	if path := a.app.Env.Config.Paths.Rules; path != "" {
		return nil, apiError{http.StatusConflict, fmt.Errorf("the rules are those of %s, which paths.rules names, and are changed there; without paths.rules they are changed here", path)}
	}
	store := a.app.Rules.As(rulestore.Author{Name: a.app.Env.Config.API.Approver, Origin: rulestore.OriginAPI})
	var changed *rules.Rule
	accounts, err := a.app.Mail.Accounts(r.Context())
	if err != nil {
		return nil, err
	}
	err = a.app.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		if changed, err = change(ctx, tx, store); err != nil {
			return err
		}
		if err := checkRefused(a.app.Env, changed); err != nil {
			return err
		}
		return a.makeLabels(ctx, tx, accounts, changed)
	})
	if err != nil {
		return nil, err
	}
	return view.NewStoredRule(*changed), nil
}

// makeLabels creates the labels that actions of the rule name, in the mailboxes of the rule.
func (a rulesAPI) makeLabels(ctx context.Context, tx queue.Tx, accounts []mailstore.Account, rule *rules.Rule) error {
	labels := rule.NeededLabels(environment.Kinds)
	if len(labels) == 0 {
		return nil
	}
	only := cmp.Or(rule.AccountID, accountRef(rule.Scope == rules.ScopeAccount, rule.ScopeRef))
	for _, account := range accounts {
		if account.State == mailstore.AccountRemoving || only != "" && only != account.ID {
			continue
		}
		if _, err := a.app.Queue.EnqueueTx(ctx, tx, gmail.NewLabelsSyncJob(account.ID, labels...)); err != nil {
			return err
		}
	}
	return nil
}

// accountRef is the reference of a scope, if it is one to an account.
func accountRef(isAccount bool, ref string) string {
	if isAccount {
		return ref
	}
	return ""
}

// knowsAccounts returns an error for an unknown account id; an empty one is permitted.
func knowsAccounts(ctx context.Context, h *app.App, ids ...string) error {
	for _, id := range ids {
		if id == "" {
			continue
		}
		if _, err := h.Mail.Account(ctx, id); err != nil {
			return apiError{http.StatusUnprocessableEntity, fmt.Errorf("there is no account %q: %w", id, err)}
		}
	}
	return nil
}
