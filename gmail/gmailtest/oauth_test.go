package gmailtest_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"google.golang.org/api/gmail/v1"
	"google.golang.org/api/option"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// open starts a server in memory that is closed with the test.
func open(t *testing.T, cfg gmailtest.Config) *gmailtest.Server {
	t.Helper()
	server, err := gmailtest.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

// An app is a program that wants access, and the person in front of its browser.
type app struct {
	*testing.T
	server   *gmailtest.Server
	config   oauth2.Config
	verifier string
}

func newApp(t *testing.T, server *gmailtest.Server, scopes ...string) *app {
	return &app{T: t, server: server, verifier: oauth2.GenerateVerifier(), config: oauth2.Config{
		ClientID: "app", ClientSecret: "secret", Endpoint: server.OAuthEndpoint(),
		RedirectURL: "http://127.0.0.1:7777/done", Scopes: scopes,
	}}
}

// noRedirect is a browser that shows where it is sent.
var noRedirect = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (a *app) authURL(opts ...oauth2.AuthCodeOption) string {
	return a.config.AuthCodeURL("state-1", append(opts, oauth2.S256ChallengeOption(a.verifier))...)
}

// answer posts the form of the page, and returns the parameters with which the person comes back to the program.
func (a *app) answer(authURL string, form url.Values) url.Values {
	response, err := noRedirect.PostForm(authURL, form)
	require.NoError(a, err)
	defer response.Body.Close()
	require.Equal(a, http.StatusFound, response.StatusCode)
	location, err := response.Location()
	require.NoError(a, err)
	require.Equal(a, "127.0.0.1:7777", location.Host)
	require.Equal(a, "state-1", location.Query().Get("state"))
	return location.Query()
}

// signIn allows the scopes, all that were asked for without any.
func (a *app) signIn(allowed []string, opts ...oauth2.AuthCodeOption) (*oauth2.Token, error) {
	if allowed == nil {
		allowed = a.config.Scopes
	}
	back := a.answer(a.authURL(opts...), url.Values{"answer": {"allow"}, "account": {a.server.Email()},
		"allowed": allowed})
	return a.config.Exchange(a.Context(), back.Get("code"), oauth2.VerifierOption(a.verifier))
}

func (a *app) service(token *oauth2.Token) *gmail.UsersService {
	service, err := gmail.NewService(a.Context(), option.WithEndpoint(a.server.URL()),
		option.WithTokenSource(oauth2.StaticTokenSource(token)))
	require.NoError(a, err)
	return service.Users
}

func requireOAuthError(t *testing.T, err error, code, description string) {
	t.Helper()
	var refused *oauth2.RetrieveError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, code, refused.ErrorCode)
	require.Equal(t, description, refused.ErrorDescription)
}

const (
	modifyScope   = gmail.GmailModifyScope
	labelsScope   = gmail.GmailLabelsScope
	metadataScope = gmail.GmailMetadataScope
)

func TestSignIn(t *testing.T) {
	server := open(t, gmailtest.Config{OAuth: gmailtest.OAuth{Required: true}})
	a := newApp(t, server, modifyScope, "openid", "email")

	response, err := noRedirect.Get(a.authURL())
	require.NoError(t, err)
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Contains(t, string(page), "app wants access to a mailbox")
	require.Contains(t, string(page), server.Email())
	require.Contains(t, string(page), `value="`+modifyScope+`" checked`)
	require.Contains(t, string(page), "read, write and send mail, and delete nothing permanently")
	require.NotContains(t, string(page), `value="openid"`, "who somebody is is not asked for one by one")

	token, err := a.signIn(nil, oauth2.AccessTypeOffline)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(token.AccessToken, "ya29."))
	require.NotEmpty(t, token.RefreshToken)
	require.InDelta(t, 3599, time.Until(token.Expiry).Seconds(), 60)
	require.Equal(t, modifyScope+" openid email", token.Extra("scope"))
	profile, err := a.service(token).GetProfile("me").Do()
	require.NoError(t, err)
	require.Equal(t, server.Email(), profile.EmailAddress)
	require.Equal(t, "app", verified(t, server, token.Extra("id_token").(string))["aud"])

	again, err := a.signIn(nil, oauth2.AccessTypeOffline)
	require.NoError(t, err)
	require.Empty(t, again.RefreshToken, "it has one")
	again, err = a.signIn(nil, oauth2.AccessTypeOffline, oauth2.SetAuthURLParam("prompt", "consent"))
	require.NoError(t, err)
	require.NotEmpty(t, again.RefreshToken)
	online, err := a.signIn(nil)
	require.NoError(t, err)
	require.Empty(t, online.RefreshToken)

	_, err = a.service(&oauth2.Token{AccessToken: "mine"}).GetProfile("me").Do()
	api := requireAPIError(t, err, 401, "authError")
	require.Contains(t, api.Header.Get("WWW-Authenticate"), "invalid_token")
}

// verified returns the claims of a token that the server has signed.
func verified(t *testing.T, server *gmailtest.Server, token string) map[string]any {
	t.Helper()
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	var config map[string]any
	getJSON(t, server.URL()+".well-known/openid-configuration", &config)
	var set struct{ Keys []map[string]string }
	getJSON(t, config["jwks_uri"].(string), &set)
	n, err := base64.RawURLEncoding.DecodeString(set.Keys[0]["n"])
	require.NoError(t, err)
	key := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: 65537}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	require.NoError(t, err)
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	require.NoError(t, rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature))
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	var claims map[string]any
	require.NoError(t, json.Unmarshal(payload, &claims))
	require.Equal(t, config["issuer"], claims["iss"])
	return claims
}

func getJSON(t *testing.T, address string, into any) {
	t.Helper()
	response, err := noRedirect.Get(address)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, 200, response.StatusCode)
	require.NoError(t, json.NewDecoder(response.Body).Decode(into))
}

func TestWhoSignsInMayRefuse(t *testing.T) {
	server := open(t, gmailtest.Config{})
	a := newApp(t, server, modifyScope, labelsScope, "email")
	back := a.answer(a.authURL(), url.Values{"answer": {"deny"}, "account": {server.Email()}})
	require.Equal(t, "access_denied", back.Get("error"))
	back = a.answer(a.authURL(oauth2.SetAuthURLParam("prompt", "none")), nil)
	require.Equal(t, "interaction_required", back.Get("error"))

	token, err := a.signIn([]string{labelsScope})
	require.NoError(t, err)
	require.Equal(t, labelsScope+" email", token.Extra("scope"), "unticked boxes")
	users := a.service(token)
	_, err = users.Labels.List("me").Do()
	require.NoError(t, err)
	_, err = users.Messages.List("me").Do()
	api := requireAPIError(t, err, 403, "insufficientPermissions")
	require.Equal(t, "Request had insufficient authentication scopes.", api.Message)
}

func TestRequestsForAccessThatAreWrong(t *testing.T) {
	server := open(t, gmailtest.Config{OAuth: gmailtest.OAuth{Clients: []gmailtest.OAuthClient{
		{ID: "app", Secret: "secret"}, {ID: "web", RedirectURIs: []string{"https://app.example/done"}},
	}}})
	a := newApp(t, server, modifyScope)
	for want, change := range map[string]func(q url.Values){
		"invalid_client":            func(q url.Values) { q.Set("client_id", "nobody") },
		"parameter: client_id":      func(q url.Values) { q.Del("client_id") },
		"parameter: redirect_uri":   func(q url.Values) { q.Del("redirect_uri") },
		"redirect_uri_mismatch":     func(q url.Values) { q.Set("redirect_uri", "https://evil.example/") },
		"redirect_uri_mismatch. ":   func(q url.Values) { q.Set("client_id", "web") },
		"unsupported_response_type": func(q url.Values) { q.Set("response_type", "token") },
		"parameter: scope":          func(q url.Values) { q.Del("scope") },
		"invalid_scope":             func(q url.Values) { q.Set("scope", "https://www.googleapis.com/auth/gmail.everything") },
		"plain or S256":             func(q url.Values) { q.Set("code_challenge_method", "S512") },
	} {
		u, err := url.Parse(a.authURL())
		require.NoError(t, err)
		query := u.Query()
		change(query)
		u.RawQuery = query.Encode()
		for _, verb := range []string{"GET", "POST"} {
			request, err := http.NewRequestWithContext(t.Context(), verb, u.String(), nil)
			require.NoError(t, err)
			response, err := noRedirect.Do(request)
			require.NoError(t, err)
			text, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, 400, response.StatusCode, "%s: nobody is sent to an address that is not trusted", want)
			require.Contains(t, string(text), want)
		}
	}
}

func TestCodes(t *testing.T) {
	now := gmailtest.NewClock(noon)
	server := open(t, gmailtest.Config{Now: now.Now,
		OAuth: gmailtest.OAuth{Clients: []gmailtest.OAuthClient{{ID: "app", Secret: "secret"}, {ID: "other"}}}})
	a := newApp(t, server, modifyScope)
	code := func() string {
		return a.answer(a.authURL(oauth2.AccessTypeOffline), url.Values{"answer": {"allow"}, "account": {server.Email()},
			"allowed": {modifyScope}}).Get("code")
	}
	exchange := func(code string, change func(c *oauth2.Config), opts ...oauth2.AuthCodeOption) error {
		config := a.config
		if change != nil {
			change(&config)
		}
		_, err := config.Exchange(t.Context(), code, opts...)
		return err
	}
	verifier := oauth2.VerifierOption(a.verifier)
	requireOAuthError(t, exchange("4/none", nil, verifier), "invalid_grant", "Malformed auth code.")
	requireOAuthError(t, exchange(code(), nil), "invalid_grant", "Missing code verifier.")
	requireOAuthError(t, exchange(code(), nil, oauth2.VerifierOption("wrong")), "invalid_grant", "Invalid code verifier.")
	requireOAuthError(t, exchange(code(), func(c *oauth2.Config) {
		c.ClientSecret = "guess"
	}, verifier), "invalid_client", "Unauthorized")
	requireOAuthError(t, exchange(code(), func(c *oauth2.Config) {
		c.ClientID = "other"
	}, verifier), "unauthorized_client", "Unauthorized")
	requireOAuthError(t, exchange(code(), func(c *oauth2.Config) {
		c.ClientID = "nobody"
	}, verifier), "invalid_client", "The OAuth client was not found.")
	requireOAuthError(t, exchange(code(), func(c *oauth2.Config) {
		c.RedirectURL = "http://127.0.0.1:1/"
	}, verifier), "redirect_uri_mismatch", "Bad Request")
	requireOAuthError(t, exchange(code(), nil, verifier, oauth2.SetAuthURLParam("grant_type", "password")),
		"unsupported_grant_type", "Invalid grant_type: password")
	late := code()
	now.Move(10 * time.Minute)
	requireOAuthError(t, exchange(late, nil, verifier), "invalid_grant", "Bad Request")

	once := code()
	token, err := a.config.Exchange(t.Context(), once, verifier)
	require.NoError(t, err)
	_, err = a.service(token).GetProfile("me").Do()
	require.NoError(t, err)
	requireOAuthError(t, exchange(once, nil, verifier), "invalid_grant", "Bad Request")
	_, err = a.service(token).GetProfile("me").Do()
	requireAPIError(t, err, 401, "authError")
}

// refreshed asks for an access token by a refresh token.
func (a *app) refreshed(refresh string) (*oauth2.Token, error) {
	return a.config.TokenSource(a.Context(), &oauth2.Token{RefreshToken: refresh}).Token()
}

func TestRefresh(t *testing.T) {
	now := gmailtest.NewClock(noon)
	server := open(t, gmailtest.Config{Now: now.Now, OAuth: gmailtest.OAuth{AccessTTL: time.Minute,
		RefreshTTL: 7 * 24 * time.Hour}})
	a := newApp(t, server, modifyScope)
	first, err := a.signIn(nil, oauth2.AccessTypeOffline)
	require.NoError(t, err)
	now.Move(time.Minute)
	_, err = a.service(first).GetProfile("me").Do()
	requireAPIError(t, err, 401, "authError")
	second, err := a.refreshed(first.RefreshToken)
	require.NoError(t, err)
	require.Equal(t, first.RefreshToken, second.RefreshToken, "the server returns none, and the client keeps its own")
	_, err = a.service(second).GetProfile("me").Do()
	require.NoError(t, err)
	require.NoError(t, mustAccount(t, server).ExpireTokens(t.Context()))
	_, err = a.service(second).GetProfile("me").Do()
	requireAPIError(t, err, 401, "authError")

	_, err = a.refreshed("1//unknown")
	requireOAuthError(t, err, "invalid_grant", "Bad Request")
	a.config.ClientID = "another"
	_, err = a.refreshed(first.RefreshToken)
	requireOAuthError(t, err, "unauthorized_client", "Unauthorized")
	a.config.ClientID = "app"
	now.Move(7 * 24 * time.Hour)
	_, err = a.refreshed(first.RefreshToken)
	requireOAuthError(t, err, "invalid_grant", "Token has been expired or revoked.")
}

func mustAccount(t *testing.T, server *gmailtest.Server) *gmailtest.Account {
	t.Helper()
	account, err := server.Account(t.Context(), server.Email())
	require.NoError(t, err)
	return account
}

func TestGrantsAreRevoked(t *testing.T) {
	server := open(t, gmailtest.Config{})
	owner := mustAccount(t, server)
	a := newApp(t, server, modifyScope)
	for name, revoke := range map[string]func(token *oauth2.Token){
		"by the program": func(token *oauth2.Token) {
			for _, want := range []int{200, 400} {
				response, err := noRedirect.PostForm(server.URL()+"revoke", url.Values{"token": {token.RefreshToken}})
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				require.Equal(t, want, response.StatusCode)
			}
		},
		"by the owner": func(*oauth2.Token) { require.NoError(t, owner.RevokeGrants(t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			token, err := owner.Grant(t.Context())
			require.NoError(t, err)
			_, err = a.service(token).GetProfile("me").Do()
			require.NoError(t, err)
			revoke(token)
			_, err = a.service(token).GetProfile("me").Do()
			requireAPIError(t, err, 401, "authError")
			_, err = a.refreshed(token.RefreshToken)
			requireOAuthError(t, err, "invalid_grant", "Token has been expired or revoked.")
		})
	}
	_, err := owner.Grant(t.Context(), "https://example.com/scope")
	require.ErrorContains(t, err, "is no scope of Gmail")
}

func TestTheOldestOfTooManyRefreshTokensIsVoid(t *testing.T) {
	server := open(t, gmailtest.Config{})
	owner := mustAccount(t, server)
	var tokens []*oauth2.Token
	for range 101 {
		token, err := owner.Grant(t.Context())
		require.NoError(t, err)
		tokens = append(tokens, token)
	}
	a := newApp(t, server)
	_, err := a.refreshed(tokens[0].RefreshToken)
	requireOAuthError(t, err, "invalid_grant", "Token has been expired or revoked.")
	_, err = a.refreshed(tokens[1].RefreshToken)
	require.NoError(t, err)
}

func TestScopesAreThoseOfTheDiscoveryDocument(t *testing.T) {
	var look func(d discovered)
	look = func(d discovered) {
		for _, method := range d.Methods {
			var want []string
			for _, scope := range method.Scopes {
				if scope == gmail.MailGoogleComScope {
					scope = "full"
				}
				want = append(want, strings.TrimPrefix(scope, "https://www.googleapis.com/auth/gmail."))
			}
			for _, scope := range want {
				require.NotEmpty(t, gmailtest.Meaning(scope), scope)
			}
			require.ElementsMatch(t, want, gmailtest.ScopesOf(gmailtest.Method(strings.TrimPrefix(method.ID, "gmail.users."))),
				method.ID)
		}
		for _, resource := range d.Resources {
			look(resource)
		}
	}
	look(discoveryDocument(t))
}

// TestTheScopeOfMetadata shows no contents and does not search.
func TestTheScopeOfMetadata(t *testing.T) {
	server, all := serve(t, letters(1))
	id := find(t, all, "0@example.com")
	token, err := mustAccount(t, server).Grant(t.Context(), metadataScope)
	require.NoError(t, err)
	users := newApp(t, server).service(token)
	_, err = users.Messages.List("me").Do()
	require.NoError(t, err)
	_, err = users.Messages.Get("me", id).Format("metadata").Do()
	require.NoError(t, err)
	_, err = users.Messages.List("me").Q("letter").Do()
	require.Equal(t, "Metadata scope does not support 'q' parameter", requireAPIError(t, err, 403, "forbidden").Message)
	_, err = users.Messages.Get("me", id).Do()
	require.Equal(t, "Metadata scope does not support format FULL", requireAPIError(t, err, 403, "forbidden").Message)
	_, err = users.Messages.Get("me", id).Format("raw").Do()
	requireAPIError(t, err, 403, "forbidden")
	_, err = users.Messages.Trash("me", id).Do()
	requireAPIError(t, err, 403, "insufficientPermissions")
}

func TestFaultsOfTheTokenEndpoint(t *testing.T) {
	server := open(t, gmailtest.Config{})
	token, err := mustAccount(t, server).Grant(t.Context())
	require.NoError(t, err)
	a := newApp(t, server)
	server.Fault(gmailtest.Fault{Method: gmailtest.OAuthToken, Status: 500},
		gmailtest.Fault{Method: gmailtest.OAuthToken, Nth: 2, Cut: gmailtest.CutBefore})
	_, err = a.refreshed(token.RefreshToken)
	requireOAuthError(t, err, "internal_failure", "")
	require.Equal(t, 500, server.Calls()[0].Status)
	_, err = a.refreshed(token.RefreshToken)
	require.ErrorContains(t, err, "EOF")
	require.True(t, server.Calls()[1].Cut)
	require.Zero(t, server.Calls()[1].Status)
	server.ClearFaults()
	server.Fault(
		gmailtest.Fault{Method: gmailtest.OAuthToken, Status: 400, Reason: "invalid_grant",
			Message: "Token has been expired or revoked."},
		gmailtest.Fault{Method: gmailtest.OAuthToken, Nth: 2, Status: 503, Body: "<html>"},
		gmailtest.Fault{Method: gmailtest.OAuthToken, Nth: 3, Cut: gmailtest.CutAfter},
	)
	_, err = a.refreshed(token.RefreshToken)
	requireOAuthError(t, err, "invalid_grant", "Token has been expired or revoked.")
	_, err = a.refreshed(token.RefreshToken)
	require.ErrorContains(t, err, "503")
	_, err = a.refreshed(token.RefreshToken)
	require.ErrorContains(t, err, "EOF")
	_, err = a.refreshed(token.RefreshToken)
	require.NoError(t, err)
	calls := server.Calls()
	require.True(t, slices.ContainsFunc(calls, func(c gmailtest.Call) bool {
		return c.Method == gmailtest.OAuthToken && c.Cut
	}))
	require.Equal(t, 200, calls[len(calls)-1].Status)
}

func TestUserInfo(t *testing.T) {
	server := open(t, gmailtest.Config{})
	ann, err := server.Account(t.Context(), "ann@example.com")
	require.NoError(t, err)
	token, err := ann.Grant(t.Context())
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"oauth2/v3/userinfo", nil)
	require.NoError(t, err)
	token.SetAuthHeader(request)
	response, err := noRedirect.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	var info map[string]any
	require.NoError(t, json.NewDecoder(response.Body).Decode(&info))
	require.Equal(t, "ann@example.com", info["email"])
	require.NoError(t, ann.RevokeGrants(t.Context()))
	revoked, err := noRedirect.Do(request)
	require.NoError(t, err)
	require.NoError(t, revoked.Body.Close())
	require.Equal(t, 401, revoked.StatusCode)
}

func TestOAuthConfigIsChecked(t *testing.T) {
	for want, o := range map[string]gmailtest.OAuth{
		"AccessTTL":     {AccessTTL: time.Millisecond},
		"RefreshTTL 0s": {AccessTTL: -1},
		"Clients[0].ID": {Clients: []gmailtest.OAuthClient{{Secret: "x"}}},
	} {
		_, err := gmailtest.Open(t.Context(), gmailtest.Config{OAuth: o})
		require.ErrorContains(t, err, want)
	}
}
