package oauth

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

//go:embed consent.html
var consentText string

var consentPage = template.Must(template.New("consent").Parse(consentText))

// An authorization is a program's request for access (RFC 6749, section 4.1.1, and RFC 7636).
type authorization struct {
	client    Client
	redirect  string
	state     string
	scopes    []string
	challenge string
	method    string
	offline   bool
	prompt    string
	hint      string
}

// parseAuthorization parses a request. An error is shown to the person: an untrusted program gets no redirect.
func (s *Server) parseAuthorization(query url.Values) (*authorization, error) {
	client, unknown := s.cfg.client(query.Get("client_id"))
	if unknown != nil {
		return nil, refusal("401: invalid_client", unknown.Description)
	}
	a := &authorization{
		client: client, redirect: query.Get("redirect_uri"), state: query.Get("state"),
		scopes:    strings.Fields(query.Get("scope")),
		challenge: query.Get("code_challenge"), method: query.Get("code_challenge_method"),
		offline: query.Get("access_type") == "offline",
		prompt:  query.Get("prompt"), hint: query.Get("login_hint"),
	}
	switch {
	case a.redirect == "":
		return nil, refusal("400: invalid_request", "Missing required parameter: redirect_uri")
	case !client.mayReturnTo(a.redirect):
		return nil, refusal("400: redirect_uri_mismatch", "The redirect URI does not match those of the client")
	case query.Get("response_type") != "code":
		return nil, refusal("400: unsupported_response_type", "Use response_type=code")
	case len(a.scopes) == 0:
		return nil, refusal("400: invalid_request", "Missing required parameter: scope")
	case a.challenge != "" && !slices.Contains([]string{"", "plain", "S256"}, a.method):
		return nil, refusal("400: invalid_request", "The code challenge method is plain or S256")
	}
	for _, scope := range a.scopes {
		if !knownScope(scope) {
			return nil, refusal("400: invalid_scope", "Some requested scopes were invalid: "+scope)
		}
	}
	return a, nil
}

// refusal uses Google's wording.
func refusal(code, why string) error { return fmt.Errorf("Error %s. %s", code, why) }

// consent asks the person to choose the mailbox, and sends the answer to the program.
func (s *Server) consent(w http.ResponseWriter, r *http.Request) int {
	if err := r.ParseForm(); err != nil {
		http.Error(w, "Error 400: invalid_request", http.StatusBadRequest)
		return http.StatusBadRequest
	}
	a, err := s.parseAuthorization(r.URL.Query())
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return http.StatusBadRequest
	case a.prompt == "none":
		return a.sendBack(w, r, url.Values{"error": {"interaction_required"}})
	case r.Method == http.MethodGet:
		return s.showConsent(w, r, a)
	case r.PostForm.Get("answer") != "allow":
		return a.sendBack(w, r, url.Values{"error": {"access_denied"}})
	}
	code, scopes, err := s.allow(r, a)
	if err != nil {
		return answerJSON(w, nil, err)
	}
	return a.sendBack(w, r, url.Values{"code": {code}, "scope": {scopes}})
}

// sendBack redirects the person to the program.
func (a *authorization) sendBack(w http.ResponseWriter, r *http.Request, answer url.Values) int {
	u, err := url.Parse(a.redirect)
	if err != nil {
		return answerJSON(w, nil, err)
	}
	query := u.Query()
	maps.Copy(query, answer)
	if a.state != "" {
		query.Set("state", a.state)
	}
	u.RawQuery = query.Encode()
	http.Redirect(w, r, u.String(), http.StatusFound) //nolint:gosec // it is one of the client's, or of this machine
	return http.StatusFound
}

func (s *Server) showConsent(w http.ResponseWriter, r *http.Request, a *authorization) int {
	var accounts []Account
	if err := dbquery.Select(r.Context(), s.db.Reader(), &accounts, selectAccounts); err != nil {
		return answerJSON(w, nil, err)
	}
	type choice struct {
		Value, Text string
		Chosen      bool
	}
	page := struct {
		Client           string
		Accounts, Scopes []choice
	}{Client: a.client.ID}
	for i, row := range accounts {
		hinted := strings.EqualFold(row.Email, a.hint)
		page.Accounts = append(page.Accounts, choice{Value: row.Email, Text: row.Email, Chosen: hinted ||
			a.hint == "" && i == 0})
	}
	for _, scope := range a.scopes {
		if !slices.Contains(identityScopes, scope) {
			page.Scopes = append(page.Scopes, choice{Value: scope, Text: Meaning(ShortScope(scope)), Chosen: true})
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.Header().Set("X-Frame-Options", "DENY")
	if err := consentPage.Execute(w, page); err != nil {
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

// allow grants the scopes that the person left ticked, and returns the code.
func (s *Server) allow(r *http.Request, a *authorization) (code, scopes string, err error) {
	granted := slices.DeleteFunc(slices.Clone(a.scopes), func(scope string) bool {
		return !slices.Contains(identityScopes, scope) && !slices.Contains(r.PostForm["allowed"], scope)
	})
	scopes, code = strings.Join(granted, " "), "4/"+rand.Text()+rand.Text()
	err = s.db.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error {
		var owner Account
		err := dbquery.Get(ctx, tx, &owner, selectAccount, strings.ToLower(r.PostForm.Get("account")))
		if errors.Is(err, sql.ErrNoRows) {
			return failure(http.StatusBadRequest, "invalid_request", "There is no account "+r.PostForm.Get("account"))
		}
		if err != nil {
			return err
		}
		var had bool
		if err := dbquery.Get(ctx, tx, &had, selectGranted, owner.ID, a.client.ID); err != nil {
			return err
		}
		// A client with a refresh token gets another only if it asks for consent again.
		offline := a.offline && (!had || strings.Contains(a.prompt, "consent"))
		grant, err := s.insertGrant(ctx, tx, owner, a.client.ID, scopes, offline)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, insertCode, code, grant.ID, a.redirect, a.challenge, a.method,
			s.now().Add(codeTTL).UnixMilli())
		return err
	})
	return code, scopes, err
}
