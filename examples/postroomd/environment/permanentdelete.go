package environment

import (
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/agents"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/llm/agent"
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

// DeletingWords says to people what becomes of a message that is deleted for ever.
func (s *Environment) DeletingWords() string {
	if s.Config.Archive.URL == "" {
		return "a message that is deleted for ever cannot be put back: archive.url names no archive"
	}
	words := "a message is deleted for ever only when the archive has a verified copy, and can be put back"
	if keep := s.Config.Archive.Keep; keep != "" {
		words += "; not any more when Gmail has received it longer ago than " + keep + " (archive.keep), since its copy is " +
			"removed then"
	}
	return words
}

// RefusedActions are the actions that no mailbox here carries out, as far as the configuration alone tells, and why.
func (s *Environment) RefusedActions() map[postroom.ActionType]string {
	refused := map[postroom.ActionType]string{}
	if s.neverDeletes() {
		refused[postroom.Delete] =
			"gmail.allow_delete is false; set it to true and sign in again with 'postroomd auth login', or write trash"
	}
	if !s.Config.Lists.Enabled {
		refused[unsubscribe.ActionType] = "unsubscribe.enabled is false; set it to true, or write archive"
	}
	return refused
}

// RefuseActions is for reading rules: it warns of what is refused.
func (s *Environment) RefuseActions() rulesfile.ParseOption {
	return rulesfile.WithRefused(s.RefusedActions())
}

// ModelKinds are the actions that a model may choose from: not those that a rule or an agent decides on.
func (s *Environment) ModelKinds() (*postroom.Kinds, error) {
	cfg := postroom.KindsConfig{Add: slices.DeleteFunc(s.addedKinds(), func(k postroom.Kind) bool {
		return k.Type == agents.RunAgent || k.Type == agent.Draft || k.Type == unsubscribe.ActionType ||
			k.Type == postroom.Delete && s.neverDeletes()
	})}
	if s.neverDeletes() {
		cfg.Without = []postroom.ActionType{postroom.Delete}
	}
	return postroom.NewKinds(cfg)
}
