package webapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// AllAccounts is what [Route.Account] returns of something that is of all accounts.
const AllAccounts = "*"

// ByQuery is the [Route.Account] of requests that name an account by the parameter account_id.
func ByQuery(r *http.Request) (string, error) { return r.URL.Query().Get("account_id"), nil }

// ByBody is the [Route.Account] of requests that name an account by the field account_id of the body, which stays to be
// read.
func ByBody(r *http.Request) (string, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return "", WithStatus(http.StatusBadRequest, fmt.Errorf("the body cannot be read: %w", err))
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	var body struct {
		AccountID string `json:"account_id"`
	}
	if json.Unmarshal(text, &body) != nil {
		return "", nil //nolint:nilerr // the call says what is wrong with it
	}
	return body.AccountID, nil
}
