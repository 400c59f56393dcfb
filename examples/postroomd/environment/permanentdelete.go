package environment

import (
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// Gmail deletes for ever only for who has granted the full mail scope. Signing in asks for it where
// gmail.allow_delete says so, and each mailbox keeps what its owner has granted. What a token of the configuration
// may is not known, and is left to Gmail.

// Scopes are those that signing in asks for.
func (s *Environment) Scopes() []string {
	if s.Config.Gmail.AllowDelete {
		return []string{auth.ScopeModify, auth.ScopeFull}
	}
	return []string{auth.ScopeModify}
}

// MayDelete says why mail of an account is not deleted for ever, and what to do; nil if it is, or nobody knows.
func (s *Environment) MayDelete(a mailstore.Account) error {
	switch {
	case s.Config.Gmail.ClientID == "" || s.ByToken(a):
		return nil
	case !s.Config.Gmail.AllowDelete:
		return fmt.Errorf(
			"gmail.allow_delete is false, so nothing is deleted for ever: set it to true and %s, or use the action trash",
			s.HowToSignIn(a))
	case len(auth.Grant{Scopes: a.Scopes}.Missing(auth.ScopeFull)) > 0:
		return fmt.Errorf("%s has not granted permanent deletion: %s and leave all boxes ticked, or use the action trash",
			a.Email, s.HowToSignIn(a))
	}
	return nil
}

// neverDeletes reports whether the configuration alone tells that no mailbox deletes for ever.
func (s *Environment) neverDeletes() bool {
	g := s.Config.Gmail
	return g.ClientID != "" && g.Token == "" && !g.AllowDelete
}

// RefusedActions are the actions that no mailbox here carries out, as far as the configuration alone tells, and why.
func (s *Environment) RefusedActions() map[postroom.ActionType]string {
	if !s.neverDeletes() {
		return nil
	}
	return map[postroom.ActionType]string{
		postroom.Delete: "gmail.allow_delete is false; set it to true and sign in again with 'postroomd auth login', or write trash",
	}
}

// RefuseActions is for reading rules: it warns of what is refused.
func (s *Environment) RefuseActions() rulesfile.ParseOption {
	return rulesfile.WithRefused(s.RefusedActions())
}

// ModelKinds are the actions that a model may choose from.
func (s *Environment) ModelKinds() (*postroom.Kinds, error) {
	if !s.neverDeletes() {
		return s.ActionKinds(), nil
	}
	return postroom.NewKinds(postroom.KindsConfig{Add: s.addedKinds(),
		Without: []postroom.ActionType{postroom.Delete}})
}
