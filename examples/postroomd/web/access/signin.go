package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom/internal/webui"
)

// The paths of a sign-in, below the address of the page.
const (
	signInPath   = "/signin"
	callbackPath = "/signin/callback"
	signOutPath  = "/signout"
)

// The cookies, and how long they last.
const (
	personCookie = "person"
	signInCookie = "signin"

	personLasts = 12 * time.Hour
	signInLasts = 10 * time.Minute
)

// A signIn lets people sign in at an OpenID provider: the authorization code flow with PKCE.
type signIn struct {
	cfg    Config
	cookie signer
	oauth  oauth2.Config // without the endpoint

	mu       sync.Mutex
	provider *oidc.Provider // nil until it has answered once
	silent   error          // why it has not, at the last call
	again    time.Time      // when it is called again
}

// A providerError is a fault of the provider, not of who signs in.
type providerError struct{ err error }

func (e *providerError) Error() string { return e.err.Error() }
func (e *providerError) Unwrap() error { return e.err }

// An attempt is a sign-in under way, which the browser keeps.
type attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	To       string `json:"to"`
}

func newSignIn(cfg Config, page *url.URL) *signIn {
	return &signIn{cfg: cfg, cookie: signer{cfg.Key, page.Scheme == "https"}, oauth: oauth2.Config{ClientID: cfg.ClientID,
		ClientSecret: cfg.ClientSecret, RedirectURL: page.Scheme + "://" + page.Host + callbackPath,
		Scopes: []string{oidc.ScopeOpenID, "email"}}}
}

// signedIn returns the address of the person of a request; empty if nobody has signed in.
func (s *signIn) signedIn(r *http.Request) string {
	address, _ := read[string](s.cookie, r, personCookie)
	return address
}

// ask lets a browser sign in that opens a page, and refuses others.
func (s *signIn) ask(w http.ResponseWriter, r *http.Request) {
	inPage := strings.HasPrefix(r.URL.Path, "/events") || strings.HasPrefix(r.URL.Path, "/static/")
	if r.Method != http.MethodGet || inPage {
		http.Error(w, "Sign in first: open the page.", http.StatusUnauthorized)
		return
	}
	http.Redirect(w, r, signInPath+"?"+url.Values{"to": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
}

// serves answers the requests of a sign-in, and reports whether it was one.
func (s *signIn) serves(w http.ResponseWriter, r *http.Request) bool {
	var err error
	switch {
	case r.URL.Path == signInPath && r.Method == http.MethodGet:
		err = s.begin(w, r)
	case r.URL.Path == callbackPath && r.Method == http.MethodGet:
		err = s.end(w, r)
	case r.URL.Path == signOutPath && r.Method == http.MethodPost && webui.CheckOrigin(r) == nil:
		s.cookie.clear(w, personCookie)
		_, err = w.Write([]byte("You have signed out."))
	default:
		return false
	}
	if err != nil {
		s.refuse(w, r, err)
	}
	return true
}

// refuse says why nobody is signed in. What is the provider's fault is also in the log, for who runs the page.
func (s *signIn) refuse(w http.ResponseWriter, r *http.Request, err error) {
	text := webui.Printable(err.Error(), webui.MaxLine)
	if fault, ok := errors.AsType[*providerError](err); ok {
		s.cfg.Logger.WarnContext(r.Context(), "nobody can sign in to the page: its provider has failed", "issuer",
			s.cfg.Issuer, "error", fault)
		http.Error(w, "You are not signed in: "+webui.Printable(s.cfg.Issuer, webui.MaxLine)+" has failed ("+text+
			"). Open the page again in a minute. Who runs it finds this in the log, and the address in web.oidc_issuer.",
			http.StatusBadGateway)
		return
	}
	http.Error(w, "You are not signed in: "+text+". Open the page to begin again.", http.StatusForbidden)
}

// begin sends the browser to the provider.
func (s *signIn) begin(w http.ResponseWriter, r *http.Request) error {
	oauth, _, err := s.reach()
	if err != nil {
		return err
	}
	a := attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		To: localPath(r.URL.Query().Get("to"))}
	if err := set(s.cookie, w, signInCookie, a, signInLasts); err != nil {
		return err
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)}
	if address, ok := read[string](s.cookie, r, personCookie); ok && address == "" {
		options = append(options, oauth2.SetAuthURLParam("prompt", "select_account"))
	}
	http.Redirect(w, r, oauth.AuthCodeURL(a.State, options...), http.StatusSeeOther)
	return nil
}

// chooseAnother ends a sign-in, and has the provider ask at the next one which account it is: it would otherwise take
// the same again without a word.
func (s *signIn) chooseAnother(w http.ResponseWriter) error {
	return set(s.cookie, w, personCookie, "", personLasts)
}

// end takes what the provider has sent the browser back with.
func (s *signIn) end(w http.ResponseWriter, r *http.Request) error {
	a, ok := read[attempt](s.cookie, r, signInCookie)
	query := r.URL.Query()
	if !ok || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1 {
		return errors.New("this sign-in was begun elsewhere, or too long ago")
	}
	s.cookie.clear(w, signInCookie)
	if fault := query.Get("error"); fault != "" {
		return fmt.Errorf("the provider says %q", fault)
	}
	address, err := s.verify(r.Context(), query.Get("code"), a)
	if err != nil {
		return err
	}
	if err := set(s.cookie, w, personCookie, address, personLasts); err != nil {
		return err
	}
	http.Redirect(w, r, a.To, http.StatusSeeOther)
	return nil
}

// verify exchanges the code, and returns the address that the provider vouches for.
func (s *signIn) verify(ctx context.Context, code string, a attempt) (string, error) {
	oauth, provider, err := s.reach()
	if err != nil {
		return "", err
	}
	ctx = withClient(ctx, s.cfg.Client)
	token, err := oauth.Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return "", exchangeError(err)
	}
	text, _ := token.Extra("id_token").(string)
	id, err := provider.Verifier(&oidc.Config{ClientID: s.cfg.ClientID}).Verify(ctx, text)
	if err != nil {
		return "", err
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(a.Nonce)) != 1 {
		return "", errors.New("the provider answers another sign-in")
	}
	var claims struct {
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
	}
	if err := id.Claims(&claims); err != nil {
		return "", err
	}
	if !claims.Verified || !isAddress(claims.Email) {
		return "", errors.New("the provider does not vouch for a mail address of yours")
	}
	return strings.ToLower(claims.Email), nil
}

// exchangeError tells a code that the provider refuses from a provider that fails.
func exchangeError(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if ok && refused.Response != nil && refused.Response.StatusCode < http.StatusInternalServerError {
		return err
	}
	return &providerError{err}
}

// reach returns the provider, which says once where its pages are. One that does not answer is called again after a
// while, so that it does not keep each visitor waiting.
func (s *signIn) reach() (*oauth2.Config, *oidc.Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.provider == nil && time.Now().Before(s.again) {
		return nil, nil, s.silent
	}
	if s.provider == nil {
		// Its keys are read later, with the same context.
		p, err := oidc.NewProvider(background(s.cfg.Client), s.cfg.Issuer)
		if err != nil {
			s.silent, s.again = &providerError{err}, time.Now().Add(providerPatience)
			return nil, nil, s.silent
		}
		s.provider = p
	}
	oauth := s.oauth
	oauth.Endpoint = s.provider.Endpoint()
	return &oauth, s.provider, nil
}

// providerPatience bounds each call of a provider, and is how long one that has not answered is left alone.
const providerPatience = 10 * time.Second

func withClient(ctx context.Context, c *http.Client) context.Context {
	if c == nil {
		c = &http.Client{Timeout: providerPatience}
	}
	return oidc.ClientContext(ctx, c)
}

// maxPath bounds what a sign-in remembers of where it began: browsers keep cookies of at most 4 KB.
const maxPath = 1000

// localPath is a path of this page; that of the first one for an address elsewhere, or a long one.
func localPath(to string) string {
	u, err := url.ParseRequestURI(to)
	if err != nil || len(to) > maxPath || u.Host != "" || u.Scheme != "" ||
		!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.ContainsAny(to, "\\\r\n") || strings.HasPrefix(u.Path, signInPath) {
		return "/"
	}
	return to
}
