package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom/internal/fields"
)

// The errors of a sign-in without a grant. Match them with errors.Is.
var (
	// ErrDenied reports that the person refused on the consent page.
	ErrDenied = errors.New("access was refused on the consent page")
	// ErrNothingGranted reports that the person unticked all scopes of Gmail.
	ErrNothingGranted = errors.New("none of the permissions was granted: sign in again and leave the boxes ticked")
	// ErrOtherAccount reports that the person chose another mailbox than LoginConfig.Email.
	ErrOtherAccount = errors.New("another account was chosen")
	// ErrNotAnswered reports that nobody answered the consent page within LoginConfig.Timeout.
	ErrNotAnswered = errors.New("the consent page was not answered")
)

// defaultTimeout is the default of LoginConfig.Timeout.
const defaultTimeout = 5 * time.Minute

// LoginConfig configures one sign-in.
type LoginConfig struct {
	// App is the program that asks for access. Required.
	App App
	// Tokens stores the grant. Required.
	Tokens Tokens
	// Open shows the address of the consent page to the person. It opens a browser, like [OpenBrowser], or prints the
	// address for a person who opens it on the same machine. It must not wait for the browser to close. An error ends
	// the sign-in, unless the person has already answered. Required.
	Open func(ctx context.Context, address string) error
	// Scopes are the scopes of Gmail to ask for. Default: [ScopeModify].
	Scopes []string
	// Email is the mailbox to sign in to. The page proposes it; if the person chooses another, the error is
	// [ErrOtherAccount]. Default: any.
	Email string
	// Timeout bounds the sign-in. Default 5 minutes; it must not be negative.
	Timeout time.Duration
}

// A LoginResult is a successful sign-in.
type LoginResult struct {
	// Grant is the saved grant.
	Grant Grant
	// Refused are the scopes that were requested and not granted. Calls that need them fail with the class
	// [gmail.ClassForbidden] until the person signs in again.
	Refused []Refusal
}

func (c LoginConfig) withDefaults() (LoginConfig, error) {
	c.App = c.App.withDefaults()
	c.Scopes = slices.Clone(c.Scopes)
	if len(c.Scopes) == 0 {
		c.Scopes = []string{ScopeModify}
	}
	c.Email = normal(c.Email)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	faults := []error{
		c.App.validate(),
		fields.Required("auth: LoginConfig.Tokens", c.Tokens, giveTokens),
		fields.Required("auth: LoginConfig.Open", c.Open, "a function that opens a browser, such as OpenBrowser"),
	}
	if c.Timeout < 0 {
		faults = append(faults, fmt.Errorf("auth: LoginConfig.Timeout is %v; it must be positive", c.Timeout))
	}
	return c, errors.Join(faults...)
}

// giveTokens is the hint for a missing Tokens.
const giveTokens = "a store of grants, such as tokenstore.Open returns"

// Login asks a person for access to a mailbox, and saves the grant. It listens on a free port of 127.0.0.1 until the
// browser has returned, ctx ends, or the Timeout passes. The browser's last page shows the result. A grant that is
// not kept, with [ErrOtherAccount] or [ErrNothingGranted], is revoked, unless the store has an earlier grant of that
// mailbox.
//
// A request without this sign-in's secret state gets a page that explains that, and changes nothing.
func Login(ctx context.Context, cfg LoginConfig) (*LoginResult, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.Timeout, fmt.Errorf("%w within %v", ErrNotAnswered, cfg.Timeout))
	defer cancel()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("auth: sign in: %w", err)
	}
	redirect := "http://" + listener.Addr().String() + "/"
	l := &login{
		LoginConfig: cfg, ctx: ctx, state: rand.Text(), verifier: oauth2.GenerateVerifier(),
		oauth: cfg.App.config(redirect, slices.Concat(cfg.Scopes, identityScopes)), ended: make(chan ending, 1),
	}
	stop := l.serve(listener)
	defer stop()
	if err := cfg.Open(ctx, l.address()); err != nil && len(l.ended) == 0 {
		return nil, fmt.Errorf("auth: sign in: show the consent page: %w", err)
	}
	select {
	case end := <-l.ended:
		return end.result, end.err
	case <-ctx.Done():
		return nil, fmt.Errorf("auth: sign in: %w", context.Cause(ctx))
	}
}

// address returns the address of the consent page.
func (l *login) address() string {
	options := []oauth2.AuthCodeOption{
		oauth2.AccessTypeOffline, oauth2.SetAuthURLParam("prompt", "consent"), oauth2.S256ChallengeOption(l.verifier),
	}
	if l.Email != "" {
		options = append(options, oauth2.SetAuthURLParam("login_hint", l.Email))
	}
	return l.oauth.AuthCodeURL(l.state, options...)
}

// redeem exchanges the code and saves the grant.
func (l *login) redeem(code string) (*LoginResult, error) {
	token, err := l.oauth.Exchange(l.App.carry(l.ctx), code, oauth2.VerifierOption(l.verifier))
	if err != nil {
		return nil, fmt.Errorf("auth: sign in: exchange the code: %w", err)
	}
	email, err := identity(token, l.App.ClientID)
	if err != nil {
		return nil, fmt.Errorf("auth: sign in: %w", err)
	}
	grant := Grant{
		Email: email, RefreshToken: token.RefreshToken, Scopes: splitScopes(token.Extra("scope"), l.oauth.Scopes),
		ClientID: l.App.ClientID, GrantedAt: time.Now().UTC().Truncate(time.Second),
	}
	refused := grant.Missing(l.Scopes...)
	switch {
	case l.Email != "" && l.Email != email:
		return nil, l.discard(grant, fmt.Errorf("auth: sign in to %s: %w: %s", l.Email, ErrOtherAccount, email))
	case len(refused) == len(l.Scopes):
		return nil, l.discard(grant, fmt.Errorf("auth: sign in to %s: %w", email, ErrNothingGranted))
	}
	if err := l.Tokens.Save(l.ctx, grant); err != nil {
		return nil, fmt.Errorf("auth: sign in to %s: save the grant: %w", email, err)
	}
	return &LoginResult{Grant: grant, Refused: refused}, nil
}

// discard revokes a grant that is not kept. The server then also revokes all other access that the person has granted
// to the program, so a mailbox with an earlier grant in the store is left alone.
func (l *login) discard(grant Grant, reason error) error {
	_, err := l.Tokens.Load(l.ctx, grant.Email)
	if errors.Is(err, ErrNoGrant) {
		err = l.App.revoke(l.ctx, grant.RefreshToken)
	}
	if err != nil {
		return fmt.Errorf(
			"%w; what %s has granted is not kept, and could not be revoked: remove it in the settings of that account: %w",
			reason, grant.Email, err)
	}
	return reason
}

// serve answers the browser. stop waits until the last page has been sent.
func (l *login) serve(listener net.Listener) (stop func()) {
	server := &http.Server{
		Handler: l, ReadHeaderTimeout: 10 * time.Second,
		// errors of other clients on this port are of no interest
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // it returns when the server closes
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close() // a browser holds an unused connection open
		}
		<-served
	}
}
