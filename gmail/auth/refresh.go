package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom/gmail/gmailapi"
)

// maxLoads bounds how often a refused refresh is retried with a refresh token that another process saved meanwhile.
const maxLoads = 3

// refresh loads the grant and exchanges it for an access token. Only one refresh runs at a time.
func (s *Source) refresh(ctx context.Context) (*oauth2.Token, error) {
	if locker, ok := s.tokens.(Locker); ok {
		unlock, err := locker.Lock(ctx, s.email)
		if err != nil {
			return nil, fmt.Errorf("auth: lock the grant of %s: %w", s.email, err)
		}
		defer unlock()
	}
	for range maxLoads {
		grant, err := s.load(ctx)
		if err != nil {
			return nil, err
		}
		if grant.RefreshToken == s.dead {
			break
		}
		token, err := s.exchange(ctx, grant)
		refused, ok := errors.AsType[*oauth2.RetrieveError](err)
		if !ok || refused.ErrorCode != "invalid_grant" {
			return token, err
		}
		s.dead, s.cause = grant.RefreshToken, refused
	}
	return nil, &gmailapi.Error{
		Op: s.op(), Class: gmailapi.ClassReauthorize, Status: http.StatusBadRequest, Reason: "invalid_grant",
		Hint: gmailapi.HintReauthorize, Err: s.cause,
	}
}

// load returns the grant to use. It first saves a new refresh token that could not be saved before.
func (s *Source) load(ctx context.Context) (Grant, error) {
	grant, err := s.tokens.Load(ctx, s.email)
	switch {
	case errors.Is(err, ErrNoGrant):
		s.pending = nil
		return Grant{}, s.lacks(err, "sign in to the account")
	case err != nil && s.shared:
		return Grant{}, s.lacks(err, "")
	case err != nil:
		return Grant{}, fmt.Errorf("auth: load the grant of %s: %w", s.email, err)
	case s.pending != nil && grant.RefreshToken == s.replaced:
		grant = *s.pending
		err = s.savePending(ctx)
	default: // a new sign-in replaces a pending grant
		s.pending = nil
	}
	if err == nil && grant.ClientID != s.app.ClientID {
		err = s.lacks(fmt.Errorf("it was granted to the client %s, and App.ClientID is %s", grant.ClientID, s.app.ClientID),
			"sign in again, or configure the client that it was granted to")
	}
	return grant, err
}

// exchange makes one request to the token endpoint. A new refresh token is saved before the access token is used.
func (s *Source) exchange(ctx context.Context, grant Grant) (*oauth2.Token, error) {
	old := &oauth2.Token{RefreshToken: grant.RefreshToken}
	token, err := s.app.config("", nil).TokenSource(s.app.carry(ctx), old).Token()
	if err != nil {
		return nil, fmt.Errorf("auth: refresh the access to %s: %w", s.email, err)
	}
	if token.RefreshToken == grant.RefreshToken { // the response has none: the old one stays
		return token, nil
	}
	s.replaced = grant.RefreshToken
	grant.RefreshToken = token.RefreshToken
	s.pending = &grant
	return token, s.savePending(ctx)
}

func (s *Source) savePending(ctx context.Context) error {
	if err := s.tokens.Save(ctx, *s.pending); err != nil {
		return fmt.Errorf("auth: save the new refresh token of %s: %w", s.email, err)
	}
	s.pending = nil
	return nil
}

// lacks returns the error of a process that has no grant to use. Unless another process may have one, a person has to
// sign in.
func (s *Source) lacks(cause error, hint string) error {
	e := &gmailapi.Error{Op: s.op(), Class: gmailapi.ClassReauthorize, Hint: hint, Err: cause}
	if s.shared {
		e.Class = gmailapi.ClassNoAccess
	}
	return e
}

func (s *Source) op() string { return "refresh the access to " + s.email }
