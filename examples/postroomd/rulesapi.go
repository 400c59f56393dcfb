package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// A rulesAPI lists and changes the stored rules. Rules of a file must be changed there: its next reading would revert a change
// here.
type rulesAPI struct{ httpAPI }

func (a rulesAPI) calls() map[string]call {
	return apiKind{a.list, a.create, a.show, a.patch, a.remove, a.swap}.calls("rules")
}

// A storedRuleView is a rule as JSON. Patches have the same names.
type storedRuleView struct {
	ID             string               `json:"id"`
	AccountID      string               `json:"account_id"`
	Name           string               `json:"name"`
	Description    string               `json:"description"`
	Enabled        bool                 `json:"enabled"`
	DisabledReason string               `json:"disabled_reason,omitempty"`
	Scope          rules.Scope          `json:"scope"`
	ScopeRef       string               `json:"scope_ref,omitempty"`
	Priority       int                  `json:"priority"`
	Condition      rules.Condition      `json:"condition"`
	Action         postroom.ActionType  `json:"action"`
	Parameters     postroom.Parameters  `json:"parameters,omitempty"`
	Also           []rules.RuleAction   `json:"further_actions,omitempty"`
	SafeMode       postroom.SafeMode    `json:"safe_mode"`
	Continue       bool                 `json:"continue"`
	Schedule       rules.Schedule       `json:"schedule"`
	Authentication rules.Authentication `json:"authentication,omitempty"`
	CreatedAt      time.Time            `json:"created_at"`
	UpdatedAt      time.Time            `json:"updated_at"`
	Revision       int64                `json:"revision"`
}

func viewStoredRule(r rules.Rule) storedRuleView {
	return storedRuleView{
		ID: r.ID, AccountID: r.AccountID, Name: r.Name, Description: r.Description, Enabled: r.Enabled, DisabledReason: r.DisabledReason,
		Scope: r.Scope, ScopeRef: r.ScopeRef, Priority: r.Priority, Condition: r.Condition, Action: r.Action, Parameters: r.Parameters, Also: r.Also,
		SafeMode: r.SafeMode, Continue: r.Continue, Schedule: r.Schedule, Authentication: r.Authentication,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Revision: r.Revision,
	}
}

func (v *storedRuleView) rule() rules.Rule {
	return rules.Rule{
		AccountID: v.AccountID, Name: v.Name, Description: v.Description, Enabled: v.Enabled, DisabledReason: v.DisabledReason,
		Scope: v.Scope, ScopeRef: v.ScopeRef, Priority: v.Priority, Condition: v.Condition, Action: v.Action, Parameters: v.Parameters, Also: v.Also,
		SafeMode: v.SafeMode, Continue: v.Continue, Schedule: v.Schedule, Authentication: v.Authentication,
	}
}

// list lists the rules in the order in which they are tried: all rules, or with account_id those of a mailbox.
func (a rulesAPI) list(r *http.Request) (any, error) {
	all, err := a.app.rules.List(r.Context())
	if err != nil {
		return nil, err
	}
	list := []storedRuleView{}
	for _, rule := range all {
		if query := r.URL.Query(); !query.Has("account_id") || rule.AccountID == query.Get("account_id") {
			list = append(list, viewStoredRule(rule))
		}
	}
	return list, nil
}

func (a rulesAPI) show(r *http.Request) (any, error) {
	rule, err := a.app.rules.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return viewStoredRule(*rule), nil
}

func (a rulesAPI) create(r *http.Request) (any, error) {
	view := viewStoredRule(rules.NewRule("", rules.Condition{}, "", nil))
	if err := readBody(r, &view); err != nil {
		return nil, err
	}
	if err := madeHere(view.ID, view.CreatedAt, view.UpdatedAt, view.Revision); err != nil {
		return nil, err
	}
	rule := view.rule()
	if err := a.app.knowsAccounts(r.Context(), rule.AccountID, accountRef(rule.Scope == rules.ScopeAccount, rule.ScopeRef)); err != nil {
		return nil, err
	}
	return a.write(r, func(ctx context.Context, tx queue.Tx, store *rules.Store) (*rules.Rule, error) {
		return store.Create(ctx, tx, rule)
	})
}

func (a rulesAPI) patch(r *http.Request) (any, error) {
	var p rules.Patch
	if err := readBody(r, &p); err != nil {
		return nil, err
	}
	return a.write(r, func(ctx context.Context, tx queue.Tx, store *rules.Store) (*rules.Rule, error) {
		return store.Patch(ctx, tx, r.PathValue("id"), p)
	})
}

func (a rulesAPI) remove(r *http.Request) (any, error) {
	_, err := a.write(r, func(ctx context.Context, tx queue.Tx, store *rules.Store) (*rules.Rule, error) {
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
	_, err := a.write(r, func(ctx context.Context, tx queue.Tx, store *rules.Store) (*rules.Rule, error) {
		return new(rules.Rule), store.Swap(ctx, tx, r.PathValue("id"), body.With)
	})
	if err != nil {
		return nil, err
	}
	return a.show(r)
}

// write changes the stored rules on behalf of the API.
func (a rulesAPI) write(r *http.Request, change func(context.Context, queue.Tx, *rules.Store) (*rules.Rule, error)) (any, error) {
	if path := a.app.env.Config.Paths.Rules; path != "" {
		return nil, apiError{http.StatusConflict, fmt.Errorf("the rules are those of %s, which paths.rules names, and are changed there; without paths.rules they are changed here", path)}
	}
	store := a.app.rules.As(rules.Author{Name: a.app.env.Config.API.Approver, Origin: rules.OriginAPI})
	var changed *rules.Rule
	accounts, err := a.app.mail.Accounts(r.Context())
	if err != nil {
		return nil, err
	}
	err = a.app.db.Write(r.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		if changed, err = change(ctx, tx, store); err != nil {
			return err
		}
		if err := checkRefused(a.app.env, changed); err != nil {
			return err
		}
		return a.makeLabels(ctx, tx, accounts, changed)
	})
	if err != nil {
		return nil, err
	}
	return viewStoredRule(*changed), nil
}

// makeLabels creates the labels that actions of the rule name, in the mailboxes of the rule.
func (a rulesAPI) makeLabels(ctx context.Context, tx queue.Tx, accounts []gmail.Account, rule *rules.Rule) error {
	labels := rule.NeededLabels(environment.Kinds)
	if len(labels) == 0 {
		return nil
	}
	only := cmp.Or(rule.AccountID, accountRef(rule.Scope == rules.ScopeAccount, rule.ScopeRef))
	for _, account := range accounts {
		if account.State == gmail.AccountRemoving || only != "" && only != account.ID {
			continue
		}
		if _, err := a.app.queue.EnqueueTx(ctx, tx, gmail.NewLabelsSyncJob(account.ID, labels...)); err != nil {
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
func (h *host) knowsAccounts(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		if id == "" {
			continue
		}
		if _, err := h.mail.Account(ctx, id); err != nil {
			return apiError{http.StatusUnprocessableEntity, fmt.Errorf("there is no account %q: %w", id, err)}
		}
	}
	return nil
}
