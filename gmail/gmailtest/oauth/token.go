package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// AccessPrefix and refreshPrefix begin the access and the refresh tokens that the server issues, like Google's.
const (
	AccessPrefix  = "ya29."
	refreshPrefix = "1//"
)

// maxRefreshTokens is the maximum number of refresh tokens of a client for one account. A further one silently
// revokes the oldest.
const maxRefreshTokens = 100

// A grantRow is an owner's grant to a client.
type grantRow struct {
	ID      int64          `db:"id"`
	Account int64          `db:"account"`
	Email   string         `db:"email"`
	Client  string         `db:"client"` // empty: any
	Scopes  string         `db:"scopes"`
	Refresh sql.NullString `db:"refresh_token"`
	Granted int64          `db:"granted_at"` // in milliseconds
	Revoked bool           `db:"revoked"`
}

// A tokenAnswer is the answer of the token endpoint (RFC 6749, section 5.1).
type tokenAnswer struct {
	AccessToken  string `json:"access_token"`
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token,omitempty"`
	Scope        string `json:"scope"`
	TokenType    string `json:"token_type"`
	IDToken      string `json:"id_token,omitempty"`
}

// token is the token endpoint.
func (s *Server) token(w http.ResponseWriter, r *http.Request) int {
	answer, err := s.exchange(r)
	return answerJSON(w, answer, err)
}

func (s *Server) exchange(r *http.Request) (*tokenAnswer, error) {
	if err := r.ParseForm(); err != nil {
		return nil, failure(http.StatusBadRequest, "invalid_request", "Bad Request")
	}
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if user, password, ok := r.BasicAuth(); ok {
		id, secret = user, password
	}
	client, unknown := s.cfg.client(id)
	if unknown != nil {
		return nil, failure(http.StatusUnauthorized, unknown.Code, unknown.Description)
	}
	if client.Secret != "" && subtle.ConstantTimeCompare([]byte(client.Secret), []byte(secret)) == 0 {
		return nil, failure(http.StatusUnauthorized, "invalid_client", "Unauthorized")
	}
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		return s.redeem(r, client)
	case "refresh_token":
		return s.refresh(r, client)
	}
	return nil, failure(http.StatusBadRequest, "unsupported_grant_type", "Invalid grant_type: "+
		r.PostForm.Get("grant_type"))
}

// A codeRow is an authorization code with its grant.
type codeRow struct {
	grantRow
	Redirect        string `db:"redirect_uri"`
	Challenge       string `db:"challenge"`
	ChallengeMethod string `db:"challenge_method"`
	Expires         int64  `db:"expires_at"`
	Used            bool   `db:"used"`
}

// redeem exchanges an authorization code, once. Using a code again revokes the grant of the first use (RFC 6749,
// section 4.1.2).
func (s *Server) redeem(r *http.Request, client Client) (answer *tokenAnswer, err error) {
	code := r.PostForm.Get("code")
	var refusal error
	err = s.db.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error {
		var row codeRow
		err := dbquery.Get(ctx, tx, &row, selectCode, code)
		if errors.Is(err, sql.ErrNoRows) {
			return invalidGrant("Malformed auth code.")
		}
		if err != nil {
			return err
		}
		if refusal = s.checkCode(&row, r, client); refusal != nil {
			if row.Used {
				_, err = tx.ExecContext(ctx, revokeGrant, row.ID)
			}
			return err
		}
		if _, err := tx.ExecContext(ctx, useCode, code); err != nil {
			return err
		}
		answer, err = s.issue(ctx, tx, &row.grantRow, row.Scopes)
		if err == nil {
			answer.RefreshToken = row.Refresh.String
		}
		return err
	})
	return answer, errors.Join(err, refusal)
}

func (s *Server) checkCode(row *codeRow, r *http.Request, client Client) error {
	switch {
	case row.Client != client.ID:
		return failure(http.StatusUnauthorized, "unauthorized_client", "Unauthorized")
	case row.Used, row.Revoked, row.Expires <= s.now().UnixMilli():
		return invalidGrant("Bad Request")
	case row.Redirect != r.PostForm.Get("redirect_uri"):
		return failure(http.StatusBadRequest, "redirect_uri_mismatch", "Bad Request")
	case row.Challenge != "" && r.PostForm.Get("code_verifier") == "":
		return invalidGrant("Missing code verifier.")
	case row.Challenge != "" && !verifies(row.Challenge, row.ChallengeMethod, r.PostForm.Get("code_verifier")):
		return invalidGrant("Invalid code verifier.")
	}
	return nil
}

// verifies implements the check of RFC 7636, section 4.6.
func verifies(challenge, method, verifier string) bool {
	if method == "S256" {
		sum := sha256.Sum256([]byte(verifier))
		verifier = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return subtle.ConstantTimeCompare([]byte(challenge), []byte(verifier)) == 1
}

// refresh issues an access token for a refresh token, with the same scopes or fewer.
func (s *Server) refresh(r *http.Request, client Client) (answer *tokenAnswer, err error) {
	err = s.db.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error {
		var grant grantRow
		err := dbquery.Get(ctx, tx, &grant, selectGrant, r.PostForm.Get("refresh_token"))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return invalidGrant("Bad Request")
		case err != nil:
			return err
		case grant.Client != "" && grant.Client != client.ID:
			return failure(http.StatusUnauthorized, "unauthorized_client", "Unauthorized")
		case grant.Revoked, s.cfg.RefreshTTL > 0 && s.now().Sub(time.UnixMilli(grant.Granted)) >= s.cfg.RefreshTTL:
			return invalidGrant("Token has been expired or revoked.")
		}
		scopes := grant.Scopes
		if fewer := r.PostForm.Get("scope"); fewer != "" {
			for scope := range strings.FieldsSeq(fewer) {
				if !slices.Contains(strings.Fields(grant.Scopes), scope) {
					return failure(http.StatusBadRequest, "invalid_scope", "Some requested scopes were invalid.")
				}
			}
			scopes = fewer
		}
		answer, err = s.issue(ctx, tx, &grant, scopes)
		return err
	})
	return answer, err
}

// issue makes an access token.
func (s *Server) issue(ctx context.Context, tx queue.Tx, grant *grantRow, scopes string) (*tokenAnswer, error) {
	answer := &tokenAnswer{
		AccessToken: AccessPrefix + rand.Text() + rand.Text(), ExpiresIn: int64(s.cfg.AccessTTL / time.Second),
		Scope: scopes, TokenType: "Bearer",
	}
	expires := s.now().Add(s.cfg.AccessTTL)
	if _, err := tx.ExecContext(ctx, insertToken, answer.AccessToken, grant.ID, scopes, expires.UnixMilli()); err != nil {
		return nil, err
	}
	if !slices.Contains(strings.Fields(scopes), "openid") {
		return answer, nil
	}
	owner := Account{ID: grant.Account, Email: grant.Email}
	var err error
	answer.IDToken, err = s.SignIdentity(map[string]any{
		"aud": grant.Client, "azp": grant.Client, "sub": owner.Subject(), "email": owner.Email, "email_verified": true,
		"iat": s.now().Unix(), "exp": expires.Unix(),
	})
	return answer, err
}

// insertGrant records an owner's grant to a client, with a refresh token for offline access.
func (s *Server) insertGrant(ctx context.Context, tx queue.Tx, owner Account, client, scopes string,
	offline bool) (grantRow, error) {
	grant := grantRow{Account: owner.ID, Email: owner.Email, Client: client, Scopes: scopes, Granted: s.now().UnixMilli()}
	if offline {
		grant.Refresh = sql.NullString{String: refreshPrefix + rand.Text() + rand.Text(), Valid: true}
	}
	err := dbquery.Get(ctx, tx, &grant.ID, insertGrant, grant.Account, grant.Client, grant.Scopes, grant.Refresh,
		grant.Granted)
	if err == nil && offline {
		_, err = tx.ExecContext(ctx, revokeOldGrants, grant.Account, grant.Client, maxRefreshTokens)
	}
	return grant, err
}

func (s *Server) grantDirectly(ctx context.Context, owner Account, scopes []string) (answer *tokenAnswer, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		grant, err := s.insertGrant(ctx, tx, owner, "", strings.Join(scopes, " "), true)
		if err != nil {
			return err
		}
		if answer, err = s.issue(ctx, tx, &grant, grant.Scopes); err == nil {
			answer.RefreshToken = grant.Refresh.String
		}
		return err
	})
	return answer, err
}

// revoke voids the grant of an access or a refresh token (RFC 7009).
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) int {
	token := r.FormValue("token")
	var revoked int64
	err := s.db.Write(r.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		revoked, err = dbquery.Exec(ctx, tx, revokeToken, token)
		return err
	})
	if err == nil && revoked == 0 {
		err = failure(http.StatusBadRequest, "invalid_token", "Token expired or revoked")
	}
	return answerJSON(w, struct{}{}, err)
}

// RevokeGrants revokes all grants of the account.
func (s *Server) RevokeGrants(ctx context.Context, owner Account) error {
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, revokeGrantsOf, owner.ID)
		return err
	})
}

// ExpireTokens expires the access tokens of the account. Refresh tokens stay valid.
func (s *Server) ExpireTokens(ctx context.Context, owner Account) error {
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, expireTokensOf, s.now().UnixMilli(), owner.ID)
		return err
	})
}

// Authenticate returns the owner and the scopes of an access token of this server.
func (s *Server) Authenticate(ctx context.Context, token string) (owner Account, scopes []string, err error) {
	var row struct {
		Account
		Scopes string `db:"scopes"`
	}
	err = dbquery.Get(ctx, s.db.Reader(), &row, selectToken, token, s.now().UnixMilli())
	if errors.Is(err, sql.ErrNoRows) {
		err = wire.InvalidCredentials()
	}
	return row.Account, strings.Fields(row.Scopes), err
}
