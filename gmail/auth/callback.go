package auth

import (
	"bytes"
	"context"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/oauth2"
)

// A login is one sign-in that waits for the browser.
type login struct {
	LoginConfig
	ctx      context.Context //nolint:containedctx // a browser that goes away does not end the sign-in
	state    string
	verifier string
	oauth    *oauth2.Config
	ended    chan ending

	mu       sync.Mutex
	answered bool
}

// An ending is the result of a sign-in.
type ending struct {
	result *LoginResult
	err    error
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// A page is shown by the browser at the end.
type page struct {
	status  int
	Title   string
	Lines   []string
	Refused []Refusal
}

// ServeHTTP handles the browser's return from the consent page.
func (l *login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet {
		http.Error(w, "use GET", http.StatusMethodNotAllowed)
		return
	}
	query := r.URL.Query()
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(l.state)) == 0 {
		page{
			status: http.StatusBadRequest, Title: "Not this sign-in",
			Lines: []string{"This address belongs to another sign-in, or was altered. Nothing was changed.",
				"Go back to the page that asks for access, or start again."},
		}.send(w)
		return
	}
	if !l.first() {
		page{status: http.StatusConflict, Title: "Answered already",
			Lines: []string{"This sign-in has been answered. You can close this window."}}.send(w)
		return
	}
	result, err := l.answer(query)
	pageOf(result, err).send(w)
	l.ended <- ending{result, err}
}

// first reports whether this is the first answer.
func (l *login) first() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.answered
	l.answered = true
	return first
}

// answer parses the answer of the authorization server (RFC 6749, sections 4.1.2 and 4.1.2.1).
func (l *login) answer(query url.Values) (*LoginResult, error) {
	switch code, refusal := query.Get("code"), query.Get("error"); {
	case refusal == "access_denied":
		return nil, fmt.Errorf("auth: sign in: %w", ErrDenied)
	case refusal != "":
		return nil, fmt.Errorf("auth: sign in: the authorization server answers %.100q %.300q", refusal,
			query.Get("error_description"))
	case code == "":
		return nil, errors.New("auth: sign in: the authorization server answers with neither a code nor an error")
	default:
		return l.redeem(code)
	}
}

func pageOf(result *LoginResult, err error) page {
	switch {
	case errors.Is(err, ErrDenied):
		return page{status: http.StatusOK, Title: "No access was granted",
			Lines: []string{"Nothing was changed. You can close this window."}}
	case err != nil:
		return page{
			status: http.StatusOK, Title: "The sign-in failed",
			Lines: []string{strings.TrimPrefix(err.Error(), "auth: sign in: "), "You can close this window and start again."},
		}
	case len(result.Refused) > 0:
		return page{
			status: http.StatusOK, Title: "Signed in, with less access",
			Lines:   []string{"Signed in to " + result.Grant.Email + ". These permissions were not granted:"},
			Refused: result.Refused,
		}
	}
	return page{
		status: http.StatusOK, Title: "Signed in",
		Lines: []string{"Signed in to " + result.Grant.Email + ".", "You can close this window."},
	}
}

func (p page) send(w http.ResponseWriter) {
	var text bytes.Buffer
	if err := pageTemplate.Execute(&text, p); err != nil {
		http.Error(w, p.Title, p.status)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer") // the address contains the code
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	header.Set("Connection", "close")
	w.WriteHeader(p.status)
	_, _ = w.Write(text.Bytes()) // the browser may have gone
}

// identity returns the mailbox in the id token. The token comes directly from the token endpoint, so the connection
// authenticates it and its signature need not be checked (OpenID Connect Core 1.0, section 3.1.3.7).
func identity(token *oauth2.Token, clientID string) (email string, err error) {
	raw, _ := token.Extra("id_token").(string)
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return "", errors.New("the token endpoint does not say whose mailbox it is: it must know the scopes openid and email")
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return "", fmt.Errorf("id token: %w", err)
	}
	var claims struct {
		Email    string `json:"email"`
		Audience string `json:"aud"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return "", fmt.Errorf("id token: %w", err)
	}
	switch {
	case claims.Audience != clientID:
		return "", fmt.Errorf("the id token is for the client %.100q", claims.Audience)
	case !strings.Contains(claims.Email, "@"):
		return "", fmt.Errorf("the id token has the address %.100q", claims.Email)
	case token.RefreshToken == "":
		return "", errors.New("the token endpoint gave no refresh token; it must know access_type=offline and prompt=consent")
	}
	return normal(claims.Email), nil
}
