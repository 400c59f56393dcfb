package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/postroom-go/postroom/internal/fields"
)

// ConnectionsURL is the page of Google on which a person takes back what programs were granted.
const ConnectionsURL = "https://myaccount.google.com/connections"

// Revoke revokes the grant of the address at the authorization server, and then deletes it from the store. Google
// revokes all access that the person has granted to the App's project. A grant that the server no longer knows is
// deleted as well. An address without a grant is [ErrNoGrant], and a grant that is revoked and cannot be deleted is
// [ErrNotDeleted]. After any other error nothing is revoked. The grant is kept, so that Revoke can be retried; to
// delete it anyway, use the Delete method of the store.
func Revoke(ctx context.Context, app App, tokens Tokens, email string) error {
	app = app.withDefaults()
	if err := errors.Join(app.validate(), fields.Required("auth: Revoke: tokens", tokens, giveTokens)); err != nil {
		return err
	}
	grant, err := tokens.Load(ctx, email)
	if err != nil {
		return fmt.Errorf("auth: revoke the grant of %s: %w", email, err)
	}
	if err := app.revoke(ctx, grant.RefreshToken); err != nil {
		return fmt.Errorf("auth: revoke the grant of %s: %w", email, err)
	}
	if err := tokens.Delete(ctx, email); err != nil {
		return fmt.Errorf("auth: the grant of %s: %w: %w", email, ErrNotDeleted, err)
	}
	return nil
}

// revoke sends the request of RFC 7009, section 2.1. An invalid token counts as success.
func (a App) revoke(ctx context.Context, token string) error {
	form := url.Values{"token": {token}, "token_type_hint": {"refresh_token"}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Endpoint.RevokeURL, strings.NewReader(form))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := a.HTTPClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	var refusal struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	// A response that is not JSON has no code, only its status.
	if json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&refusal) == nil && refusal.Code == "invalid_token" {
		return nil
	}
	return fmt.Errorf("the authorization server answers %d %.100q %.300q", response.StatusCode, refusal.Code,
		refusal.Description)
}
