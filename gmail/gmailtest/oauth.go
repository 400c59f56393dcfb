package gmailtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// The calls of the OAuth endpoints as methods of [Fault] and [Call]. They cost no units.
const (
	OAuthConsent  Method = "oauth2.auth"
	OAuthToken    Method = "oauth2.token" //nolint:gosec // a name
	OAuthRevoke   Method = "oauth2.revoke"
	OAuthUserInfo Method = "oauth2.userinfo"
	OAuthKeys     Method = "oauth2.certs"
	OAuthConfig   Method = "oauth2.configuration"
)

// OAuth configures the access of programs. The zero OAuth knows every client, and accepts any access token as the server owner's,
// so that tests need no sign-in. Two kinds of tokens are refused with 401. A token that begins with "ya29.", like those of Google
// and of this server, is refused unless the server issued it and it is neither expired nor revoked. "gmailtest:" with an address
// is refused if the address has no mailbox.
type OAuth struct {
	// Clients are the known programs with their secrets. Default empty: every client id and secret is accepted.
	Clients []OAuthClient

	// Required refuses access tokens that the server did not issue, except those of [Account.Service]: "gmailtest:" and an
	// address. Default false.
	Required bool

	// AccessTTL is the life of an access token. Default 3599 s, as at Google; at least 1 s.
	AccessTTL time.Duration

	// RefreshTTL is the life of a refresh token. Default 0: until it is revoked. Google's value is 7 days for a program whose
	// consent screen is in testing.
	RefreshTTL time.Duration
}

// An OAuthClient is a known program.
type OAuthClient struct {
	ID, Secret string
	// RedirectURIs are the permitted redirect addresses. Default empty: any port of the loopback interface (RFC 8252, section
	// 7.3).
	RedirectURIs []string
}

const (
	defaultAccessTTL = 3599 * time.Second
	codeTTL          = 10 * time.Minute
)

func (o *OAuth) complete() error {
	if o.AccessTTL == 0 {
		o.AccessTTL = defaultAccessTTL
	}
	if o.AccessTTL < time.Second || o.RefreshTTL < 0 {
		return fmt.Errorf("gmailtest: Config.OAuth: AccessTTL is %v and RefreshTTL %v; they must be at least 1s and 0", o.AccessTTL, o.RefreshTTL)
	}
	for i, c := range o.Clients {
		if c.ID == "" {
			return fmt.Errorf("gmailtest: Config.OAuth.Clients[%d].ID is empty", i)
		}
	}
	return nil
}

// client returns the client with the id. An unknown id is an error if clients are configured.
func (o *OAuth) client(id string) (OAuthClient, *oauthError) {
	if id == "" {
		return OAuthClient{}, &oauthError{Code: "invalid_client", Description: "Missing required parameter: client_id"}
	}
	for _, c := range o.Clients {
		if c.ID == id {
			return c, nil
		}
	}
	if len(o.Clients) > 0 {
		return OAuthClient{}, &oauthError{Code: "invalid_client", Description: "The OAuth client was not found."}
	}
	return OAuthClient{ID: id}, nil
}

// mayReturnTo reports whether the client may redirect to the address.
func (c *OAuthClient) mayReturnTo(uri string) bool {
	if slices.Contains(c.RedirectURIs, uri) {
		return true
	}
	u, err := url.Parse(uri)
	if err != nil || len(c.RedirectURIs) > 0 || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// OAuthEndpoint returns the addresses for an [oauth2.Config].
func (s *Server) OAuthEndpoint() oauth2.Endpoint {
	return oauth2.Endpoint{AuthURL: s.url + "o/oauth2/v2/auth", TokenURL: s.url + "token", AuthStyle: oauth2.AuthStyleInParams}
}

// An oauthRoute is one endpoint of OAuth.
type oauthRoute struct {
	method Method
	verbs  []string
	handle func(s *Server, w http.ResponseWriter, r *http.Request) (status int)
}

var oauthRoutes = map[string]oauthRoute{
	"/o/oauth2/v2/auth":                 {OAuthConsent, []string{"GET", "POST"}, (*Server).consent},
	"/o/oauth2/auth":                    {OAuthConsent, []string{"GET", "POST"}, (*Server).consent},
	"/token":                            {OAuthToken, []string{"POST"}, (*Server).token},
	"/revoke":                           {OAuthRevoke, []string{"GET", "POST"}, (*Server).revoke},
	"/oauth2/v3/userinfo":               {OAuthUserInfo, []string{"GET"}, (*Server).userInfo},
	"/oauth2/v3/certs":                  {OAuthKeys, []string{"GET"}, (*Server).keys},
	"/.well-known/openid-configuration": {OAuthConfig, []string{"GET"}, (*Server).configuration},
}

// isOAuth reports whether a call is to one of the OAuth endpoints.
func isOAuth(method Method) bool {
	for _, route := range oauthRoutes {
		if route.method == method {
			return true
		}
	}
	return false
}

// serveOAuth answers a request to an OAuth endpoint, subject to faults. It reports whether the request was one.
func (s *Server) serveOAuth(w http.ResponseWriter, r *http.Request) bool {
	route, ok := oauthRoutes[r.URL.Path]
	if !ok || !slices.Contains(route.verbs, r.Method) {
		return false
	}
	call := Call{Method: route.method, Verb: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, At: s.now()}
	body := &heard{ReadCloser: r.Body}
	r.Body = body
	fault := s.faults.due(call.Method, call.Path, "")
	answer := recorder{reply: newReply(0, "", nil)}
	switch {
	case !fault.hold(r) || fault.Cut == CutBefore:
		call.Cut = true
	case fault.Status != 0:
		call.Status = fault.Status
		fault.writeOAuth(&answer)
	default:
		call.Status = route.handle(s, &answer, r)
	}
	answer.truncated = fault.Truncate
	call.Cut = call.Cut || fault.Cut == CutAfter || fault.Truncate
	call.Body = string(body.beginning)
	s.calls.add(call)
	if call.Cut && !answer.truncated {
		panic(http.ErrAbortHandler)
	}
	answer.write(w)
	return true
}

// writeOAuth sends the response of a fault in the form of RFC 6749, section 5.2. Its error is the fault's reason.
func (f Fault) writeOAuth(w http.ResponseWriter) {
	if f.Body != "" {
		newReply(f.Status, "", []byte(f.Body)).write(w)
		return
	}
	reason := f.Reason
	if reason == "" {
		reason = "internal_failure"
	}
	writeJSON(w, f.Status, oauthError{Code: reason, Description: f.Message})
}

// A recorder holds a response before it is decided whether to send it.
type recorder struct{ reply }

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.body = append(r.body, p...)
	return len(p), nil
}

// An oauthError is the error response of an endpoint (RFC 6749, section 5.2).
type oauthError struct {
	status      int
	Code        string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

func (e *oauthError) Error() string { return e.Code + ": " + e.Description }

func oauthFailure(status int, code, description string) error {
	return &oauthError{status: status, Code: code, Description: description}
}

func invalidGrant(description string) error {
	return oauthFailure(http.StatusBadRequest, "invalid_grant", description)
}

// answerOAuth writes the response or the error, and returns the status.
func answerOAuth(w http.ResponseWriter, answer any, err error) int {
	w.Header().Set("Cache-Control", "no-store")
	if err == nil {
		writeJSON(w, http.StatusOK, answer)
		return http.StatusOK
	}
	refused, ok := errors.AsType[*oauthError](err)
	if !ok {
		refused = &oauthError{status: http.StatusInternalServerError, Code: "internal_failure", Description: "gmailtest: " + err.Error()}
	}
	writeJSON(w, refused.status, refused)
	return refused.status
}

func (s *Server) keys(w http.ResponseWriter, _ *http.Request) int {
	set, err := s.signer.keySet()
	return answerOAuth(w, set, err)
}

func (s *Server) configuration(w http.ResponseWriter, _ *http.Request) int {
	return answerOAuth(w, map[string]any{
		"issuer": s.issuer(), "authorization_endpoint": s.url + "o/oauth2/v2/auth", "token_endpoint": s.url + "token",
		"revocation_endpoint": s.url + "revoke", "userinfo_endpoint": s.url + "oauth2/v3/userinfo", "jwks_uri": s.url + "oauth2/v3/certs",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"}, "code_challenge_methods_supported": []string{"plain", "S256"},
		"grant_types_supported": []string{"authorization_code", "refresh_token"},
	}, nil)
}

// issuer is the issuer of identity tokens. It is this server, so that nobody mistakes them for Google's.
func (s *Server) issuer() string { return strings.TrimSuffix(s.url, "/") }

// userInfo describes the owner of an access token.
func (s *Server) userInfo(w http.ResponseWriter, r *http.Request) int {
	c, err := s.authenticate(r)
	if err != nil {
		asAPIError(err).reply(r.URL.Query()).send(w, r)
		return asAPIError(err).status
	}
	return answerOAuth(w, map[string]any{"sub": c.account.subject(), "email": c.account.email, "email_verified": true}, nil)
}

// subject returns the number of the account; Google also has one for each.
func (a *Account) subject() string { return fmt.Sprintf("1%020d", a.id) }

// Grant returns a token as if the owner had granted the scopes to a program, without a browser. Without scopes it grants
// everything. The token has a refresh token for any client id.
func (a *Account) Grant(ctx context.Context, scopes ...string) (*oauth2.Token, error) {
	if len(scopes) == 0 {
		scopes = []string{scopeFull, scopePrefix + "settings.basic", scopePrefix + "settings.sharing"}
	}
	for _, scope := range scopes {
		if !knownScope(scope) {
			return nil, fmt.Errorf("gmailtest: grant: %q is no scope of Gmail", scope)
		}
	}
	answer, err := a.server.grantDirectly(ctx, a, scopes)
	if err != nil {
		return nil, fmt.Errorf("gmailtest: grant: %w", err)
	}
	return &oauth2.Token{
		AccessToken: answer.AccessToken, TokenType: answer.TokenType, RefreshToken: answer.RefreshToken,
		Expiry: a.server.now().Add(time.Duration(answer.ExpiresIn) * time.Second),
	}, nil
}
