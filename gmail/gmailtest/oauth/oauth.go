// Package oauth is the OAuth 2.0 server of the fake Gmail: a consent page, tokens with PKCE and refresh, expiry and
// revocation, and identity tokens of OpenID Connect with the address of their public key. Package gmailtest starts
// it; tests use that.
package oauth

import (
	"cmp"
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

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// The names of the endpoints, in the form of the API's methods.
const (
	Consent       = "oauth2.auth"
	Token         = "oauth2.token" //nolint:gosec // a name
	Revoke        = "oauth2.revoke"
	Keys          = "oauth2.certs"
	Configuration = "oauth2.configuration"
)

// Config configures the access of programs. The zero Config knows every client, and accepts any access token as the
// server owner's, so that tests need no sign-in. Two kinds of tokens are refused with 401. A token that begins with
// "ya29.", like those of Google and of this server, is refused unless the server issued it and it is neither expired
// nor revoked. "gmailtest:" with an address is refused if the address has no mailbox.
type Config struct {
	// Clients are the known programs with their secrets. Default empty: every client id and secret is accepted.
	Clients []Client

	// Required refuses access tokens that the server did not issue, except those of gmailtest itself: "gmailtest:" and an
	// address. Default false.
	Required bool

	// AccessTTL is the life of an access token. Default 3599 s, as at Google; at least 1 s.
	AccessTTL time.Duration

	// RefreshTTL is the life of a refresh token. Default 0: until it is revoked. Google's value is 7 days for a program
	// whose consent screen is in testing.
	RefreshTTL time.Duration
}

// A Client is a known program.
type Client struct {
	ID, Secret string
	// RedirectURIs are the permitted redirect addresses. Default empty: any port of the loopback interface (RFC 8252,
	// section 7.3).
	RedirectURIs []string
}

const (
	defaultAccessTTL = 3599 * time.Second
	codeTTL          = 10 * time.Minute
)

func (o *Config) complete() error {
	if o.AccessTTL == 0 {
		o.AccessTTL = defaultAccessTTL
	}
	if o.AccessTTL < time.Second || o.RefreshTTL < 0 {
		return fmt.Errorf("gmailtest: Config.OAuth: AccessTTL is %v and RefreshTTL %v; they must be at least 1s and 0",
			o.AccessTTL, o.RefreshTTL)
	}
	for i, c := range o.Clients {
		if c.ID == "" {
			return fmt.Errorf("gmailtest: Config.OAuth.Clients[%d].ID is empty", i)
		}
	}
	return nil
}

// client returns the client with the id. An unknown id is an error if clients are configured.
func (o *Config) client(id string) (Client, *protocolError) {
	if id == "" {
		return Client{}, &protocolError{Code: "invalid_client", Description: "Missing required parameter: client_id"}
	}
	for _, c := range o.Clients {
		if c.ID == id {
			return c, nil
		}
	}
	if len(o.Clients) > 0 {
		return Client{}, &protocolError{Code: "invalid_client", Description: "The OAuth client was not found."}
	}
	return Client{ID: id}, nil
}

// mayReturnTo reports whether the client may redirect to the address.
func (c *Client) mayReturnTo(uri string) bool {
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

// An Account is the owner of a mailbox, by its number and its address.
type Account struct {
	ID    int64  `db:"id"`
	Email string `db:"email"`
}

// Subject returns the number of the account in identity tokens; Google also has one for each.
func (a Account) Subject() string { return fmt.Sprintf("1%020d", a.ID) }

// A Server grants access to the accounts of a database. It is safe for concurrent use.
type Server struct {
	cfg    Config
	db     *sqlite.DB
	now    func() time.Time
	url    string
	signer signer
}

// New returns a server for the accounts in the database, which has the tables of gmailtest.
func New(db *sqlite.DB, now func() time.Time, cfg Config) (*Server, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	return &Server{cfg: cfg, db: db, now: now}, nil
}

// ListenAt sets the address at which the server is reached, with a slash at its end. It must be called once, before
// any request.
func (s *Server) ListenAt(url string) { s.url = url }

// Endpoint returns the addresses for an [oauth2.Config].
func (s *Server) Endpoint() oauth2.Endpoint {
	return oauth2.Endpoint{AuthURL: s.url + "o/oauth2/v2/auth", TokenURL: s.url + "token",
		AuthStyle: oauth2.AuthStyleInParams}
}

// Issuer returns the issuer of identity tokens. It is this server, so that nobody mistakes them for Google's.
func (s *Server) Issuer() string { return strings.TrimSuffix(s.url, "/") }

// KeysURL returns the address of the public key of identity tokens (RFC 7517).
func (s *Server) KeysURL() string { return s.url + "oauth2/v3/certs" }

// Required reports whether only access tokens of this server are accepted.
func (s *Server) Required() bool { return s.cfg.Required }

// A Route is one endpoint.
type Route struct {
	Name  string
	verbs []string
	serve func(s *Server, w http.ResponseWriter, r *http.Request) (status int)
}

// routes are the endpoints by their paths.
var routes = map[string]Route{
	"/o/oauth2/v2/auth":                 {Consent, []string{"GET", "POST"}, (*Server).consent},
	"/o/oauth2/auth":                    {Consent, []string{"GET", "POST"}, (*Server).consent},
	"/token":                            {Token, []string{"POST"}, (*Server).token},
	"/revoke":                           {Revoke, []string{"GET", "POST"}, (*Server).revoke},
	"/oauth2/v3/certs":                  {Keys, []string{"GET"}, (*Server).keys},
	"/.well-known/openid-configuration": {Configuration, []string{"GET"}, (*Server).configuration},
}

// RouteOf returns the endpoint of the request. ok is false if there is none.
func RouteOf(r *http.Request) (route Route, ok bool) {
	route, ok = routes[r.URL.Path]
	return route, ok && slices.Contains(route.verbs, r.Method)
}

// IsEndpoint reports whether the name is one of an endpoint.
func IsEndpoint(name string) bool {
	for _, route := range routes {
		if route.Name == name {
			return true
		}
	}
	return false
}

// Serve answers a request to the endpoint and returns the status.
func (s *Server) Serve(route Route, w http.ResponseWriter, r *http.Request) (status int) {
	return route.serve(s, w, r)
}

// WriteError writes the error response of an endpoint (RFC 6749, section 5.2). An empty code means a failure of the
// server.
func WriteError(w http.ResponseWriter, status int, code, description string) {
	wire.WriteJSON(w, status, protocolError{Code: cmp.Or(code, "internal_failure"), Description: description})
}

// A protocolError is the error response of an endpoint (RFC 6749, section 5.2).
type protocolError struct {
	status      int
	Code        string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

func (e *protocolError) Error() string { return e.Code + ": " + e.Description }

func failure(status int, code, description string) error {
	return &protocolError{status: status, Code: code, Description: description}
}

func invalidGrant(description string) error {
	return failure(http.StatusBadRequest, "invalid_grant", description)
}

// answerJSON writes the response or the error, and returns the status.
func answerJSON(w http.ResponseWriter, answer any, err error) int {
	w.Header().Set("Cache-Control", "no-store")
	if err == nil {
		wire.WriteJSON(w, http.StatusOK, answer)
		return http.StatusOK
	}
	refused, ok := errors.AsType[*protocolError](err)
	if !ok {
		refused = &protocolError{status: http.StatusInternalServerError, Code: "internal_failure",
			Description: "gmailtest: " + err.Error()}
	}
	wire.WriteJSON(w, refused.status, refused)
	return refused.status
}

func (s *Server) keys(w http.ResponseWriter, _ *http.Request) int {
	set, err := s.signer.keySet()
	return answerJSON(w, set, err)
}

func (s *Server) configuration(w http.ResponseWriter, _ *http.Request) int {
	return answerJSON(w, map[string]any{
		"issuer": s.Issuer(), "authorization_endpoint": s.url + "o/oauth2/v2/auth", "token_endpoint": s.url + "token",
		"revocation_endpoint": s.url + "revoke", "userinfo_endpoint": s.url + "oauth2/v3/userinfo", "jwks_uri": s.KeysURL(),
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"}, "code_challenge_methods_supported": []string{"plain", "S256"},
		"grant_types_supported": []string{"authorization_code", "refresh_token"},
	}, nil)
}

// SignIdentity returns an identity token of this issuer with the claims (OpenID Connect Core 1.0, section 2).
func (s *Server) SignIdentity(claims map[string]any) (string, error) {
	claims["iss"] = s.Issuer()
	return s.signer.sign(claims)
}

// Grant returns a token as if the owner had granted the scopes to a program, without a browser. Without scopes it
// grants everything. The token has a refresh token for any client id.
func (s *Server) Grant(ctx context.Context, owner Account, scopes ...string) (*oauth2.Token, error) {
	if len(scopes) == 0 {
		scopes = []string{scopeFull, scopePrefix + "settings.basic", scopePrefix + "settings.sharing"}
	}
	for _, scope := range scopes {
		if !knownScope(scope) {
			return nil, fmt.Errorf("%q is no scope of Gmail", scope)
		}
	}
	answer, err := s.grantDirectly(ctx, owner, scopes)
	if err != nil {
		return nil, err
	}
	return &oauth2.Token{
		AccessToken: answer.AccessToken, TokenType: answer.TokenType, RefreshToken: answer.RefreshToken,
		Expiry: s.now().Add(time.Duration(answer.ExpiresIn) * time.Second),
	}, nil
}
