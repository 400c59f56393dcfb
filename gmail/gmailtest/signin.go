package gmailtest

import (
	"context"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/gmail/gmailtest/oauth"
)

// For tests that import this package alone; package oauth describes them.
type (
	// OAuth is [oauth.Config].
	OAuth = oauth.Config
	// OAuthClient is [oauth.Client].
	OAuthClient = oauth.Client
)

// OAuthEndpoint returns the addresses for an [oauth2.Config].
func (s *Server) OAuthEndpoint() oauth2.Endpoint { return s.oauth.Endpoint() }

// Issuer returns the issuer of the identity tokens that this server signs, among them those of [Server.PushTo].
func (s *Server) Issuer() string { return s.oauth.Issuer() }

// KeysURL returns the address of the public key with which identity tokens are verified (RFC 7517).
func (s *Server) KeysURL() string { return s.oauth.KeysURL() }

// userInfoPath is the endpoint of OAuth that is called with an access token, like the API.
const userInfoPath = "/oauth2/v3/userinfo"

// isOAuth reports whether a call is to one of the OAuth endpoints.
func isOAuth(method Method) bool { return method == OAuthUserInfo || oauth.IsEndpoint(string(method)) }

// oauthHandler returns the handler of a request to an OAuth endpoint, or nil if it is to none.
func (s *Server) oauthHandler(r *http.Request) (Method, func(w http.ResponseWriter, r *http.Request) (status int)) {
	if r.URL.Path == userInfoPath && r.Method == http.MethodGet {
		return OAuthUserInfo, s.userInfo
	}
	route, ok := oauth.RouteOf(r)
	if !ok {
		return "", nil
	}
	return Method(route.Name), func(w http.ResponseWriter, r *http.Request) int { return s.oauth.Serve(route, w, r) }
}

// serveOAuth answers a request to an OAuth endpoint, subject to faults. It reports whether the request was one.
func (s *Server) serveOAuth(w http.ResponseWriter, r *http.Request) bool {
	method, handle := s.oauthHandler(r)
	if handle == nil {
		return false
	}
	call := Call{Method: method, Verb: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, At: s.now()}
	body := &heard{ReadCloser: r.Body}
	r.Body = body
	fault := s.faults.Due(call.Method, call.Path, "")
	answer := recorder{reply: wire.NewReply(0, "", nil)}
	switch {
	case !hold(r, fault) || fault.Cut == CutBefore:
		call.Cut = true
	case fault.Status != 0:
		call.Status = fault.Status
		writeOAuthFault(&answer, fault)
	default:
		call.Status = handle(&answer, r)
	}
	answer.reply.Truncated = fault.Truncate
	call.Cut = call.Cut || fault.Cut == CutAfter || fault.Truncate
	call.Body = string(body.beginning)
	s.calls.add(call)
	if call.Cut && !answer.reply.Truncated {
		panic(http.ErrAbortHandler)
	}
	answer.reply.Write(w)
	return true
}

// writeOAuthFault sends the response of a fault in the form of RFC 6749, section 5.2. Its error is the fault's reason.
func writeOAuthFault(w http.ResponseWriter, f Fault) {
	if f.Body != "" {
		wire.NewReply(f.Status, "", []byte(f.Body)).Write(w)
		return
	}
	oauth.WriteError(w, f.Status, f.Reason, f.Message)
}

// A recorder holds a response before it is decided whether to send it.
type recorder struct{ reply wire.Reply }

func (r *recorder) Header() http.Header { return r.reply.Header }

func (r *recorder) WriteHeader(status int) {
	if r.reply.Status == 0 {
		r.reply.Status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.reply.Body = append(r.reply.Body, p...)
	return len(p), nil
}

// userInfo describes the owner of an access token.
func (s *Server) userInfo(w http.ResponseWriter, r *http.Request) int {
	c, err := s.authenticate(r)
	if err != nil {
		wire.AsError(err).Reply(r.URL.Query()).Send(w, r)
		return wire.AsError(err).Status
	}
	w.Header().Set("Cache-Control", "no-store")
	wire.WriteJSON(w, http.StatusOK, map[string]any{"sub": c.account.row().Subject(), "email": c.account.email,
		"email_verified": true})
	return http.StatusOK
}

// row returns the account as package oauth knows it.
func (a *Account) row() accountRow { return accountRow{ID: a.id, Email: a.email} }

// Grant returns a token as if the owner had granted the scopes to a program, without a browser. Without scopes it
// grants everything. The token has a refresh token for any client id.
func (a *Account) Grant(ctx context.Context, scopes ...string) (*oauth2.Token, error) {
	token, err := a.server.oauth.Grant(ctx, a.row(), scopes...)
	if err != nil {
		return nil, fmt.Errorf("gmailtest: grant: %w", err)
	}
	return token, nil
}

// HTTPClient returns a client with all access to the mailbox of the address, which is made if it does not exist. It is
// for the HTTPClient of an AccountClientsConfig of package gmail. It keeps no connections.
func (s *Server) HTTPClient(ctx context.Context, email string) (*http.Client, error) {
	account, err := s.Account(ctx, email)
	if err != nil {
		return nil, err
	}
	token, err := account.Grant(ctx)
	if err != nil {
		return nil, err
	}
	base := &http.Transport{DisableKeepAlives: true}
	return &http.Client{Transport: &oauth2.Transport{Source: oauth2.StaticTokenSource(token), Base: base}}, nil
}

// RevokeGrants revokes all grants of the owner, like a person who does so in the settings of the account, or changes
// the password. Access tokens are then answered with 401, and refresh tokens with invalid_grant.
func (a *Account) RevokeGrants(ctx context.Context) error {
	return a.server.oauth.RevokeGrants(ctx, a.row())
}

// ExpireTokens expires the access tokens of the account. Refresh tokens stay valid.
func (a *Account) ExpireTokens(ctx context.Context) error {
	return a.server.oauth.ExpireTokens(ctx, a.row())
}
