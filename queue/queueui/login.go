package queueui

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/postroom-go/postroom/internal/webui"
)

// loginParam is the parameter of an address that signs in.
const loginParam = "token"

// A Login lets in whoever knows an address that the program prints, for a server on a machine with several users: they
// all reach its loopback addresses. The address has a token and works once. It redirects to itself without the token,
// and sets a cookie that lasts until the browser or the program ends. A Login is safe for concurrent use.
type Login struct {
	base    string
	changed func(address string)
	cookie  string
	session string

	mu    sync.Mutex
	token string // of the next sign-in
}

// NewLogin makes the login of a server at base, as in http://127.0.0.1:8080/. changed is called with the next address
// each time somebody has signed in; nil: later addresses are not reported.
func NewLogin(base string, changed func(address string)) *Login {
	// Browsers do not keep the cookies of different ports apart.
	name := "queueui"
	if u, err := url.Parse(base); err == nil && u.Port() != "" {
		name += "-" + u.Port()
	}
	return &Login{base: base, changed: changed, cookie: name, session: rand.Text(), token: rand.Text()}
}

// Address returns the address that signs in.
func (l *Login) Address() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.base + "?" + loginParam + "=" + l.token
}

// Protect lets requests through to next that carry the cookie. Others are answered with 401, unless they sign in.
func (l *Login) Protect(next http.Handler) http.Handler {
	return webui.Secured(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch {
		case query.Has(loginParam) && r.Method == http.MethodGet && l.take(query.Get(loginParam)):
			//nolint:gosec // on loopback there is no TLS
			http.SetCookie(w, &http.Cookie{Name: l.cookie, Value: l.session, Path: "/", HttpOnly: true,
				Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode})
			withoutToken(w, r.URL)
		case !l.signedIn(r):
			http.Error(w, "Sign in with the address that the program has printed, or written to its log, last: each works "+
				"once. If you have signed in and came here by a link, reload the page.", http.StatusUnauthorized)
		case query.Has(loginParam) && r.Method == http.MethodGet:
			withoutToken(w, r.URL) // an address that was used before
		default:
			next.ServeHTTP(w, r)
		}
	}))
}

// take reports whether the token is that of the next sign-in, and replaces it then.
func (l *Login) take(token string) bool {
	l.mu.Lock()
	ok := same(token, l.token)
	if ok {
		l.token = rand.Text()
	}
	l.mu.Unlock()
	if ok && l.changed != nil {
		l.changed(l.Address())
	}
	return ok
}

func (l *Login) signedIn(r *http.Request) bool {
	for _, c := range r.CookiesNamed(l.cookie) {
		if same(c.Value, l.session) {
			return true
		}
	}
	return false
}

// same compares secrets. Its timing does not reveal how much of one is right.
func same(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// withoutToken redirects to the same page without the token, which would stay in the history of the browser.
func withoutToken(w http.ResponseWriter, u *url.URL) {
	query := u.Query()
	query.Del(loginParam)
	page := "./"
	if !strings.HasSuffix(u.Path, "/") {
		page += url.PathEscape(path.Base(u.Path))
	}
	if len(query) > 0 {
		page += "?" + query.Encode()
	}
	webui.Redirect(w, page)
}
