package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/fields"
)

const (
	// maxLead is how long before its expiry an access token is replaced. It is shorter for tokens that live less than
	// ten times as long.
	maxLead = 5 * time.Minute
	// retryLead is how long a still valid token is used after a failed refresh before the next attempt.
	retryLead = 15 * time.Second
)

// SourceConfig configures a [Source].
type SourceConfig struct {
	// App is the program that access was granted to. Required.
	App App
	// Tokens stores the grant. Required.
	Tokens Tokens
	// Email is the address of the mailbox. Required; the grant may be saved later.
	Email string
	// Shared says that other processes work on the same account with Tokens of their own, such as those of other
	// machines on one database. A grant that Tokens lacks, cannot load, or has for another client is then an error of
	// [gmailapi.ClassNoAccess], which leaves the account's jobs to these processes. Default false: a missing grant, or
	// one for another client, is an error of [gmailapi.ClassReauthorize], since nobody else has one.
	Shared bool
	// Transport sends the requests of [Source.HTTPClient]. Several sources may share it. Default: [http.DefaultTransport].
	Transport http.RoundTripper
}

// A Source returns access tokens for one mailbox, and refreshes them. It is safe for concurrent use. [NewSource]
// makes one. A process should have one Source for each mailbox.
type Source struct {
	app    App
	tokens Tokens
	email  string
	shared bool
	base   http.RoundTripper

	mu      sync.Mutex
	current *oauth2.Token // the last one; nil before the first, and after one was refused
	renewAt time.Time     // when current is replaced; zero if never
	flight  *flight       // the refresh under way; nil if there is none

	// Only the flight uses these.
	dead     string // the refresh token that was refused
	cause    error  // the error with which it was refused
	pending  *Grant // a grant with a new refresh token that could not be saved yet
	replaced string // the refresh token that pending replaces
}

// A flight is one refresh for all goroutines that wait for it.
type flight struct {
	done  chan struct{}
	token *oauth2.Token
	err   error
}

// NewSource makes a source. It returns an error that names the field of a bad configuration. It sends nothing.
func NewSource(cfg SourceConfig) (*Source, error) {
	app := cfg.App.withDefaults()
	err := errors.Join(app.validate(), fields.Required("auth: SourceConfig.Tokens", cfg.Tokens, giveTokens))
	email := normal(cfg.Email)
	if email == "" {
		err = errors.Join(err, errors.New("auth: SourceConfig.Email is empty; give the address of the mailbox"))
	}
	err = errors.Join(err, fields.Optional("auth: SourceConfig.Transport", cfg.Transport))
	if err != nil {
		return nil, err
	}
	base := cfg.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	return &Source{app: app, tokens: cfg.Tokens, email: email, shared: cfg.Shared, base: base}, nil
}

// Token returns an access token that is valid for some minutes, and refreshes it if needed. If the grant is not valid
// any more, the error is a [*gmailapi.Error] of the class [gmailapi.ClassReauthorize]. For a missing grant see
// [SourceConfig].Shared.
func (s *Source) Token(ctx context.Context) (*oauth2.Token, error) {
	f, token := s.join(ctx)
	if token != nil {
		return token, nil
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("auth: wait for an access token of %s: %w", s.email, context.Cause(ctx))
	}
	if gone, ok := errors.AsType[*gmailapi.Error](f.err); ok {
		own := *gone // the caller may modify it
		return nil, &own
	}
	return f.token, f.err
}

// join returns the current token, or the refresh to wait for.
func (s *Source) join(ctx context.Context) (*flight, *oauth2.Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.valid() && (s.renewAt.IsZero() || time.Now().Before(s.renewAt)) {
		return nil, s.current
	}
	if s.flight == nil {
		s.flight = &flight{done: make(chan struct{})}
		// The caller that began it may leave: the others still need the token.
		go s.fly(context.WithoutCancel(ctx), s.flight)
	}
	return s.flight, nil
}

// valid reports whether there is a token that has not expired. The caller must hold the lock. It uses the wall clock:
// the monotonic clock stops while the machine sleeps.
func (s *Source) valid() bool {
	return s.current != nil && (s.current.Expiry.IsZero() || time.Now().Round(0).Before(s.current.Expiry))
}

// refuse forgets the token, which the server does not accept, unless it was replaced meanwhile.
func (s *Source) refuse(token *oauth2.Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == token {
		s.current = nil
	}
}

// fly refreshes once, and passes the result to all that wait.
func (s *Source) fly(ctx context.Context, f *flight) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	f.token, f.err = s.refresh(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case f.err == nil:
		s.current, s.renewAt = f.token, renewal(f.token, time.Now())
	case gmailapi.ClassOf(f.err) == gmailapi.ClassReauthorize, errors.Is(f.err, ErrNoGrant):
		s.current = nil
	case s.valid(): // it lasts until the next attempt
		f.token, f.err = s.current, nil
		s.renewAt = time.Now().Add(retryLead)
	}
	s.flight = nil
	close(f.done)
}

// renewal returns when the token is replaced; zero if it does not expire.
func renewal(token *oauth2.Token, now time.Time) time.Time {
	if token.Expiry.IsZero() {
		return time.Time{}
	}
	return token.Expiry.Add(-min(maxLead, token.Expiry.Sub(now.Round(0))/10))
}
