package access_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/web/access"
)

// A provider is an OpenID provider that answers as a test wants, without a network.
type provider struct {
	*testing.T
	calls  int
	down   int // the status that each call is answered with; 0: it works
	key    *rsa.PrivateKey
	claims map[string]any // beside or in place of the right ones
	nonce  string         // of the last sign-in
	sum    string         // its code challenge
}

const issuer = "https://id.example"

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	if p.calls++; p.down != 0 {
		w.WriteHeader(p.down)
		return w.Result(), nil
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		p.write(w, map[string]any{"issuer": issuer, "authorization_endpoint": issuer + "/auth",
			"token_endpoint": issuer + "/token",
			"jwks_uri":       issuer + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
	case "/keys":
		p.write(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "k", Algorithm: "RS256",
			Use: "sig"}}})
	case "/token":
		require.NoError(p, r.ParseForm())
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if base64.RawURLEncoding.EncodeToString(sum[:]) != p.sum {
			w.WriteHeader(http.StatusBadRequest)
			break
		}
		p.write(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": p.token()})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	return w.Result(), nil
}

func (p *provider) write(w http.ResponseWriter, v any) {
	p.Helper()
	require.NoError(p, json.NewEncoder(w).Encode(v))
}

func (p *provider) token() string {
	p.Helper()
	claims := map[string]any{"iss": issuer, "aud": "postroom", "sub": "1", "exp": time.Now().Add(time.Hour).Unix(),
		"iat": time.Now().Unix(), "nonce": p.nonce, "email": "Ada@example.org", "email_verified": true}
	maps.Copy(claims, p.claims)
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: "k"}}, nil)
	require.NoError(p, err)
	text, err := jwt.Signed(s).Claims(claims).Serialize()
	require.NoError(p, err)
	return text
}

// A browser keeps the cookies of the page.
type browser struct {
	*testing.T
	page    http.Handler
	id      *provider
	cookies map[string]*http.Cookie
	log     *bytes.Buffer
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	id := &provider{T: t, key: key}
	log := &bytes.Buffer{}
	g, err := access.New(access.Config{People: table(t, "ada@example.org=own"), URL: "https://mail.example.org",
		Issuer: issuer, ClientID: "postroom", Key: []byte(strings.Repeat("k", 32)), Client: &http.Client{Transport: id},
		Logger: slog.New(slog.NewTextHandler(log, nil))})
	require.NoError(t, err)
	return &browser{t, g.Protect(who), id, map[string]*http.Cookie{}, log}
}

func (b *browser) send(method, target string) *httptest.ResponseRecorder {
	b.Helper()
	r := httptest.NewRequest(method, "https://mail.example.org"+target, nil)
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	b.page.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		require.True(b, c.HttpOnly && c.Secure && c.Path == "/" && strings.HasPrefix(c.Name, "__Host-"), c)
		if b.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return w
}

// begin opens a page, and returns the address at which the provider sends the browser back.
func (b *browser) begin(target string) string {
	b.Helper()
	to := b.send(http.MethodGet, target)
	require.Equal(b, http.StatusSeeOther, to.Code)
	to = b.send(http.MethodGet, to.Header().Get("Location"))
	require.Equal(b, http.StatusSeeOther, to.Code, to.Body)
	at, err := url.Parse(to.Header().Get("Location"))
	require.NoError(b, err)
	query := at.Query()
	require.Equal(b, []string{"id.example", "/auth", "code", "S256", "https://mail.example.org/signin/callback",
		"openid email"}, []string{at.Host, at.Path, query.Get("response_type"), query.Get("code_challenge_method"), query.Get("redirect_uri"),
		query.Get("scope")})
	b.id.nonce, b.id.sum = query.Get("nonce"), query.Get("code_challenge")
	return "/signin/callback?" + url.Values{"code": {"c"}, "state": {query.Get("state")}}.Encode()
}

func TestAProviderSaysWhoPeopleAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBrowser(t)
		back := b.send(http.MethodGet, b.begin("/waiting?rule=x"))
		require.Equal(t, http.StatusSeeOther, back.Code, back.Body)
		require.Equal(t, "/waiting?rule=x", back.Header().Get("Location"))
		require.Equal(t, "ada@example.org", b.send(http.MethodGet, "/waiting?rule=x").Body.String())
		time.Sleep(12*time.Hour - time.Second)
		require.Equal(t, http.StatusOK, b.send(http.MethodGet, "/").Code)
		time.Sleep(2 * time.Second)
		require.Equal(t, http.StatusSeeOther, b.send(http.MethodGet, "/").Code, "a sign-in ends after 12 hours")

		b.send(http.MethodGet, b.begin("/"))
		require.Equal(t, http.StatusOK, b.send(http.MethodPost, "/signout").Code)
		require.Equal(t, http.StatusUnauthorized, b.send(http.MethodPost, "/stop").Code)
		require.Equal(t, http.StatusUnauthorized, b.send(http.MethodGet, "/events?page=/").Code)
	})
}

// Nobody signs in with what another sign-in, another client or a liar has said.
func TestASignInThatIsNotRightIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, claims := range map[string]map[string]any{
			"another nonce":  {"nonce": "x"},
			"another client": {"aud": "other"},
			"another issuer": {"iss": "https://evil.example"},
			"expired":        {"exp": time.Now().Add(-time.Hour).Unix()},
			"not verified":   {"email_verified": false},
			"no address":     {"email": "ada"},
		} {
			b := newBrowser(t)
			b.id.claims = claims
			answer := b.send(http.MethodGet, b.begin("/"))
			require.Equal(t, http.StatusForbidden, answer.Code, name)
			require.Equal(t, http.StatusSeeOther, b.send(http.MethodGet, "/").Code, name)
		}
		b := newBrowser(t)
		b.id.claims = map[string]any{"email": "eve@example.org"}
		b.send(http.MethodGet, b.begin("/"))
		require.Equal(t, http.StatusForbidden, b.send(http.MethodGet, "/").Code, "the table does not have her")

		b = newBrowser(t)
		callback := b.begin("/")
		other := b.send(http.MethodGet, "/signin/callback?code=c&state=x")
		require.Equal(t, http.StatusForbidden, other.Code, "another state")
		require.Equal(t, http.StatusForbidden, newBrowser(t).send(http.MethodGet, callback).Code, "another browser")
		b.id.sum = "x"
		require.Equal(t, http.StatusForbidden, b.send(http.MethodGet, callback).Code, "another verifier")
		callback = b.begin("/")
		time.Sleep(11 * time.Minute)
		require.Equal(t, http.StatusForbidden, b.send(http.MethodGet, callback).Code, "too late")
	})
}

// Only what the key has signed counts, each cookie for itself.
func TestACookieIsNotForged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBrowser(t)
		callback := b.begin("/")
		attempt := *b.cookies["__Host-postroom-signin"]
		b.send(http.MethodGet, callback)
		person := *b.cookies["__Host-postroom-person"]
		content, mac, _ := strings.Cut(person.Value, ".")
		text, err := base64.RawURLEncoding.DecodeString(content)
		require.NoError(t, err)
		other := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(text), "ada", "eve", 1)))
		for name, value := range map[string]string{"changed": other + "." + mac, "unsigned": content,
			"another's": attempt.Value, "empty": "", "no base64": "%." + mac} {
			b.cookies["__Host-postroom-person"] = &http.Cookie{Name: person.Name, Value: value}
			require.Equal(t, http.StatusSeeOther, b.send(http.MethodGet, "/").Code, name)
		}
		b.cookies["__Host-postroom-person"] = &person
		require.Equal(t, http.StatusOK, b.send(http.MethodGet, "/").Code)
	})
}

// A sign-in leads to a page of this host.
func TestASignInLeadsNowhereElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, to := range []string{"//evil.example", "https://evil.example/", `/\evil.example`, "javascript:alert(1)", "", "/signin",
			"/" + strings.Repeat("a", 4000)} {
			b := newBrowser(t)
			began := b.send(http.MethodGet, "/signin?"+url.Values{"to": {to}}.Encode())
			at, err := url.Parse(began.Header().Get("Location"))
			require.NoError(t, err)
			b.id.nonce, b.id.sum = at.Query().Get("nonce"), at.Query().Get("code_challenge")
			back := b.send(http.MethodGet, "/signin/callback?code=c&state="+at.Query().Get("state"))
			require.Equal(t, "/", back.Header().Get("Location"), to)
		}
	})
}

// A provider that has failed is called again after a while, and not for each visitor. They are told, and so is the log.
func TestAProviderThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBrowser(t)
		b.id.down = http.StatusServiceUnavailable
		for range 3 {
			answer := b.send(http.MethodGet, "/signin")
			require.Equal(t, http.StatusBadGateway, answer.Code)
			require.Contains(t, answer.Body.String(), issuer+" has failed")
		}
		require.Equal(t, 1, b.id.calls)
		require.Equal(t, 3, strings.Count(b.log.String(), "its provider has failed"))
		b.id.down = 0
		time.Sleep(11 * time.Second)
		callback := b.begin("/")
		b.id.down = http.StatusBadGateway
		require.Equal(t, http.StatusBadGateway, b.send(http.MethodGet, callback).Code)
		b.id.down = 0
		callback = b.begin("/")
		b.id.down = http.StatusBadRequest
		require.Equal(t, http.StatusForbidden, b.send(http.MethodGet, callback).Code, "the code is not right")
	})
}

// A browser leaves the default port out.
func TestAnAddressWithTheDefaultPort(t *testing.T) {
	for address, host := range map[string]string{"https://mail.example.org:443": "mail.example.org",
		"https://mail.example.org": "mail.example.org:443", "http://mail.example.org:80": "Mail.example.org"} {
		g, err := access.New(access.Config{URL: address, ProxyHeader: "X-Person"})
		require.NoError(t, err)
		require.True(t, g.Knows(host), address)
		require.False(t, g.Knows("mail.example.org:8080"), address)
	}
}

// Who has signed in as somebody whom the page does not know is asked which account it is the next time, and not kept
// out for as long as a sign-in lasts.
func TestAnotherAccountIsChosenAfterAWrongOne(t *testing.T) {
	b := newBrowser(t)
	b.id.claims = map[string]any{"email": "eve@example.org"}
	require.Equal(t, http.StatusSeeOther, b.send(http.MethodGet, b.begin("/waiting")).Code)
	refused := b.send(http.MethodGet, "/waiting")
	require.Equal(t, http.StatusForbidden, refused.Code)
	require.Contains(t, refused.Body.String(), "eve@example.org")
	require.Contains(t, refused.Body.String(), "Open the page again to sign in as somebody else")

	b.id.claims = nil
	to := b.send(http.MethodGet, "/waiting")
	require.Equal(t, http.StatusSeeOther, to.Code, to.Body)
	at := b.send(http.MethodGet, to.Header().Get("Location")).Header().Get("Location")
	require.Contains(t, at, "prompt=select_account")
	require.Equal(t, http.StatusSeeOther, b.send(http.MethodGet, b.begin("/waiting")).Code)
	require.Equal(t, "ada@example.org", b.send(http.MethodGet, "/waiting").Body.String())
}
