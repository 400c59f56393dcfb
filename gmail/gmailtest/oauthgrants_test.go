package gmailtest_test

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// A refresh token gives access to as much as was granted, or to less.
func TestRefreshOfFewerScopes(t *testing.T) {
	server := open(t, gmailtest.Config{})
	token, err := mustAccount(t, server).Grant(t.Context(), modifyScope, labelsScope)
	require.NoError(t, err)
	a := newApp(t, server)
	refresh := func(scope string) (status int, answer struct{ AccessToken, Scope, Error string }) {
		var body struct {
			AccessToken string `json:"access_token"`
			Scope       string `json:"scope"`
			Error       string `json:"error"`
		}
		response, err := noRedirect.PostForm(server.OAuthEndpoint().TokenURL, url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {token.RefreshToken}, "client_id": {"app"}, "scope": {scope},
		})
		require.NoError(t, err)
		defer response.Body.Close()
		require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
		require.NoError(t, json.NewDecoder(response.Body).Decode(&body))
		return response.StatusCode, struct{ AccessToken, Scope, Error string }(body)
	}
	status, answer := refresh(labelsScope)
	require.Equal(t, 200, status)
	require.Equal(t, labelsScope, answer.Scope)
	users := a.service(&oauth2.Token{AccessToken: answer.AccessToken})
	_, err = users.Labels.List("me").Do()
	require.NoError(t, err)
	_, err = users.Messages.List("me").Do()
	requireAPIError(t, err, 403, "insufficientPermissions")
	status, answer = refresh(labelsScope + " " + gmail.MailGoogleComScope)
	require.Equal(t, 400, status)
	require.Equal(t, "invalid_scope", answer.Error)
	status, answer = refresh("")
	require.Equal(t, 200, status)
	require.Equal(t, modifyScope+" "+labelsScope, answer.Scope)
}

// A client may say who it is in the header (RFC 6749, section 2.3.1), prove itself by its verifier in plain (RFC
// 7636), and return to localhost.
func TestOtherWaysToSignIn(t *testing.T) {
	server := open(t,
		gmailtest.Config{OAuth: gmailtest.OAuth{Clients: []gmailtest.OAuthClient{{ID: "app", Secret: "secret"}}}})
	a := newApp(t, server, modifyScope)
	a.config.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	_, err := a.signIn(nil)
	require.NoError(t, err)
	a.config.ClientSecret = "guess"
	_, err = a.signIn(nil)
	requireOAuthError(t, err, "invalid_client", "Unauthorized")
	a.config.ClientSecret = "secret"

	for method, wrong := range map[string]string{"": "x", "plain": "y"} {
		for _, verifier := range []string{a.verifier, wrong} {
			address, err := url.Parse(a.config.AuthCodeURL("state-1", oauth2.SetAuthURLParam("code_challenge", a.verifier)))
			require.NoError(t, err)
			query := address.Query()
			if method != "" {
				query.Set("code_challenge_method", method)
			}
			address.RawQuery = query.Encode()
			back := a.answer(address.String(), url.Values{"answer": {"allow"}, "account": {server.Email()},
				"allowed": {modifyScope}})
			_, err = a.config.Exchange(t.Context(), back.Get("code"), oauth2.VerifierOption(verifier))
			if verifier == a.verifier {
				require.NoError(t, err)
			} else {
				requireOAuthError(t, err, "invalid_grant", "Invalid code verifier.")
			}
		}
	}

	a.config.RedirectURL = "http://localhost:7777/done"
	response, err := noRedirect.Get(a.authURL())
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 200, response.StatusCode)
	require.Equal(t, "text/html; charset=UTF-8", response.Header.Get("Content-Type"))
	require.Equal(t, "DENY", response.Header.Get("X-Frame-Options"))
}

// What one owner takes back, or what expires, is that owner's alone; a program may revoke by its access token as well
// (RFC 7009).
func TestGrantsAreOfOneOwner(t *testing.T) {
	server := open(t, gmailtest.Config{})
	ann, _ := another(t, server, "ann@example.com")
	a := newApp(t, server, modifyScope)
	grant := func(account *gmailtest.Account) *oauth2.Token {
		t.Helper()
		token, err := account.Grant(t.Context(), modifyScope)
		require.NoError(t, err)
		return token
	}
	requireGood := func(token *oauth2.Token) {
		t.Helper()
		_, err := a.service(token).GetProfile("me").Do()
		require.NoError(t, err)
		_, err = a.refreshed(token.RefreshToken)
		require.NoError(t, err)
	}
	mine, hers := grant(mustAccount(t, server)), grant(ann)
	require.NoError(t, ann.ExpireTokens(t.Context()))
	requireGood(mine)
	_, err := a.service(hers).GetProfile("me").Do()
	requireAPIError(t, err, 401, "authError")
	require.NoError(t, ann.RevokeGrants(t.Context()))
	requireGood(mine)
	_, err = a.refreshed(hers.RefreshToken)
	requireOAuthError(t, err, "invalid_grant", "Token has been expired or revoked.")

	other := grant(mustAccount(t, server))
	response, err := noRedirect.PostForm(server.URL()+"revoke", url.Values{"token": {other.AccessToken}})
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 200, response.StatusCode)
	_, err = a.refreshed(other.RefreshToken)
	requireOAuthError(t, err, "invalid_grant", "Token has been expired or revoked.")
	requireGood(mine)
}

// A program gets a refresh token again when its owner has taken access back, and has its own beside those of other
// programs.
func TestRefreshTokensAreOfOneProgram(t *testing.T) {
	server := open(t, gmailtest.Config{})
	a := newApp(t, server, modifyScope)
	first, err := a.signIn(nil, oauth2.AccessTypeOffline)
	require.NoError(t, err)
	require.NotEmpty(t, first.RefreshToken)
	b := newApp(t, server, modifyScope)
	b.config.ClientID = "another"
	for range 101 {
		token, err := b.signIn(nil, oauth2.AccessTypeOffline, oauth2.SetAuthURLParam("prompt", "consent"))
		require.NoError(t, err)
		require.NotEmpty(t, token.RefreshToken)
	}
	_, err = a.refreshed(first.RefreshToken)
	require.NoError(t, err, "another program's tokens void none of this one")
	c := newApp(t, server, modifyScope)
	c.config.ClientID = "third"
	third, err := c.signIn(nil, oauth2.AccessTypeOffline)
	require.NoError(t, err)
	require.NotEmpty(t, third.RefreshToken, "others have one, and this program has none")

	require.NoError(t, mustAccount(t, server).RevokeGrants(t.Context()))
	again, err := a.signIn(nil, oauth2.AccessTypeOffline)
	require.NoError(t, err)
	require.NotEmpty(t, again.RefreshToken)
}

// The scope of metadata takes nothing away from a token that has another one.
func TestMetadataBesideAnotherScope(t *testing.T) {
	server, _ := serve(t, letters(1))
	token, err := mustAccount(t, server).Grant(t.Context(), metadataScope, gmail.GmailReadonlyScope)
	require.NoError(t, err)
	users := newApp(t, server).service(token)
	require.NotEmpty(t, only(t, users, "rfc822msgid:0@example.com").Payload)
}
