package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"golang.org/x/time/rate"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// The calls of a token: so many a second for long, and so many at once.
const (
	callsPerSecond = 20
	callsAtOnce    = 400
)

// An Access knows tokens: the one of a setting, and those that are stored. It is safe for concurrent use.
type Access struct {
	app     *app.App
	store   *tokens.Store
	setting string
	right   [sha256.Size]byte // the hash of the setting's; nothing has it if there is none
	own     tokens.Token      // who calls by the setting's

	mu       sync.Mutex
	limiters map[string]*rate.Limiter // by name; those of the setting and of valid tokens
}

// NewAccess returns the access of a setting, which may be empty. own is who calls with its token.
func NewAccess(h *app.App, setting string, right config.Secret, own tokens.Token) *Access {
	a := &Access{app: h, store: tokens.New(h.DB), setting: setting, own: own, limiters: map[string]*rate.Limiter{}}
	if right != "" {
		a.right = sha256.Sum256([]byte(right))
	}
	return a
}

// Require refuses calls without a valid token, and those of a token that calls too often.
func (a *Access) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := a.find(r)
		switch {
		case errors.Is(err, tokens.ErrUnknown):
			w.Header().Set("WWW-Authenticate", `Bearer realm="postroomd"`)
			a.refuse(w, http.StatusUnauthorized, "the header field Authorization has no token that is right; write Bearer and "+
				"the token of "+a.setting+", or one that 'postroomd tokens add' has printed")
		case err != nil:
			a.app.Log.Error("a token cannot be looked up", "error", err)
			a.refuse(w, http.StatusInternalServerError, "it failed here; the log says why")
		case !a.limiter(token.Name).Allow():
			w.Header().Set("Retry-After", "1")
			a.refuse(w, http.StatusTooManyRequests,
				fmt.Sprintf("the token %s makes more than %d calls a second: wait, and call again", token.Name, callsPerSecond))
		default:
			ctx := context.WithValue(r.Context(), tokenKey{}, token)
			ctx = context.WithValue(ctx, stillKey{}, func() error {
				_, err := a.find(r)
				return err
			})
			next.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

func (a *Access) refuse(w http.ResponseWriter, status int, says string) {
	if err := webapi.WriteProblem(w, status, says); err != nil {
		a.app.Log.Warn("a call of the API is not answered", "error", err)
	}
}

// find returns the token of a request. Its timing does not reveal how much of a secret is right: hashes are compared.
func (a *Access) find(r *http.Request) (tokens.Token, error) {
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || secret == "" {
		return tokens.Token{}, tokens.ErrUnknown
	}
	got := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(got[:], a.right[:]) == 1 {
		return a.own, nil
	}
	return a.store.Find(r.Context(), secret)
}

func (a *Access) limiter(name string) *rate.Limiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.limiters[name]
	if l == nil {
		l = rate.NewLimiter(callsPerSecond, callsAtOnce)
		a.limiters[name] = l
	}
	return l
}

type tokenKey struct{}

// TokenOf returns the token of a request that [Access.Require] has let through.
func TokenOf(r *http.Request) tokens.Token {
	t, _ := r.Context().Value(tokenKey{}).(tokens.Token)
	return t
}

type stillKey struct{}

// stillValid looks the token of a request up again: a long answer ends with it.
func stillValid(r *http.Request) error {
	if find, ok := r.Context().Value(stillKey{}).(func() error); ok {
		return find()
	}
	return tokens.ErrUnknown
}

// An access decides who may make which call: nothing else does.
type access struct{ app *app.App }

// authorize returns the caller of a request, if its token permits the call and the mailbox that the call concerns. A
// token of some mailboxes acts for one of them at a time, and knows of no other.
func (a access) authorize(r *http.Request) (caller webapi.Caller, err error) {
	token, route := TokenOf(r), webapi.RouteOf(r)
	caller.Name = token.Name
	if route.Summary == "" {
		return caller, nil // there is no such call, which is all that is said
	}
	if !token.Scope.Includes(tokens.Scope(route.Scope)) {
		return caller, fmt.Errorf("the token %s has the scope %s, and this needs %s", token.Name, token.Scope, route.Scope)
	}
	if token.Mailboxes == nil {
		return caller, nil
	}
	if route.Account == nil {
		return caller, fmt.Errorf("this concerns all mailboxes, and the token %s is for %s", token.Name,
			strings.Join(token.Mailboxes, ", "))
	}
	caller.AccountID, err = a.account(r, token, route)
	return caller, err
}

// account returns the account of the token that a request concerns.
func (a access) account(r *http.Request, token tokens.Token, route webapi.Route) (string, error) {
	wanted, err := route.Account(r)
	if err != nil {
		return "", err
	}
	own := []string{}
	for _, address := range token.Mailboxes {
		account, err := a.app.Mail.AccountByEmail(r.Context(), address)
		switch {
		case errors.Is(err, postroom.ErrNotFound): // it was removed, or is not added yet
		case err != nil:
			return "", err
		case account.ID == wanted:
			return wanted, nil
		default:
			own = append(own, account.ID)
		}
	}
	switch {
	case wanted == "" && len(own) == 1:
		return own[0], nil
	case wanted == "" && len(own) > 1:
		return "", webapi.WithStatus(http.StatusUnprocessableEntity,
			fmt.Errorf("name the mailbox: the token %s is for %s", token.Name, strings.Join(token.Mailboxes, ", ")))
	}
	return "", webapi.WithStatus(http.StatusNotFound,
		fmt.Errorf("%w for the token %s, which is for %s", postroom.ErrNotFound, token.Name, strings.Join(token.Mailboxes, ", ")))
}
