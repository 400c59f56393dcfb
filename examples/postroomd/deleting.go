package main

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/rules"
)

// Gmail deletes for ever only for who has granted the full mail scope. Signing in asks for it where gmail.allow_delete says so, and each
// mailbox keeps what its owner has granted. What a token of the configuration may is not known, and is left to Gmail.

// scopes are those that signing in asks for.
func (s *site) scopes() []string {
	if s.cfg.Gmail.AllowDelete {
		return []string{auth.ScopeModify, auth.ScopeFull}
	}
	return []string{auth.ScopeModify}
}

// mayDelete says why mail of an account is not deleted for ever, and what to do; nil if it is, or nobody knows.
func (s *site) mayDelete(a gmail.Account) error {
	switch {
	case s.cfg.Gmail.ClientID == "" || s.byToken(a):
		return nil
	case !s.cfg.Gmail.AllowDelete:
		return fmt.Errorf("gmail.allow_delete is false, so nothing is deleted for ever: set it to true and %s, or use the action trash", s.signIn(a))
	case len(auth.Grant{Scopes: a.Scopes}.Missing(auth.ScopeFull)) > 0:
		return fmt.Errorf("%s has not granted permanent deletion: %s and leave all boxes ticked, or use the action trash", a.Email, s.signIn(a))
	}
	return nil
}

// neverDeletes reports whether the configuration alone tells that no mailbox deletes for ever.
func (s *site) neverDeletes() bool {
	g := s.cfg.Gmail
	return g.ClientID != "" && g.Token == "" && !g.AllowDelete
}

// refused are the actions that no mailbox here carries out, as far as the configuration alone tells, and why.
func (s *site) refused() map[postroom.ActionType]string {
	if !s.neverDeletes() {
		return nil
	}
	return map[postroom.ActionType]string{
		postroom.Delete: "gmail.allow_delete is false; set it to true and sign in again with 'postroomd auth login', or write trash",
	}
}

// refusedActions is for reading rules: it warns of what is refused.
func (s *site) refusedActions() rules.ParseOption { return rules.WithRefused(s.refused()) }

// checkRefused returns an error for a rule that is made in one piece, and would do what is refused.
func (s *site) checkRefused(rule *rules.Rule) error {
	refused := s.refused()
	for _, a := range append([]rules.RuleAction{{Type: rule.Action}}, rule.Also...) {
		if why := refused[a.Type]; why != "" && rule.Enabled {
			return apiError{http.StatusUnprocessableEntity, fmt.Errorf("rule %q: action %s is refused here: %s", rule.Name, a.Type, why)}
		}
	}
	return nil
}

// refusedActions is for rules that are checked by themselves. A configuration that nobody has named and that cannot be read, such as for a
// variable that is set where postroomd starts, keeps nobody from checking rules.
func (c *configFlags) refusedActions(cmd *cobra.Command) (rules.ParseOption, error) {
	l, err := config.Load(c.source())
	switch {
	case err == nil:
		return (&site{cfg: l.Config}).refusedActions(), nil
	case c.file != "" || len(c.set) > 0:
		return rules.ParseOption{}, usage.Wrap(err)
	}
	cmd.PrintErrln("warning: the configuration cannot be read, and the rules are checked without it; 'postroomd config check' says why")
	return rules.ParseOption{}, nil
}

// modelKinds are the actions that a model may choose from.
func (s *site) modelKinds() (*postroom.Kinds, error) {
	if !s.neverDeletes() {
		return kinds, nil
	}
	return postroom.NewKinds(postroom.KindsConfig{Add: gmail.OutboundKinds(), Without: []postroom.ActionType{postroom.Delete}})
}

// newRefusals makes what knows, when an action is decided, that it would be refused.
func (h *host) newRefusals() (*gmail.Refusals, error) {
	return gmail.NewRefusals(gmail.RefusalsConfig{
		Store: h.mail, MaxRecipients: h.cfg.Outbound.MaxRecipients, Names: outboundNames, MayDelete: h.mayDelete,
	})
}
