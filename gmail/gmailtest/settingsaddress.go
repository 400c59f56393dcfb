package gmailtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"strings"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// The states of an address that belongs to somebody else.
const (
	statusAccepted = "accepted"
	statusPending  = "pending"
)

// addressKey returns the key of an address. It refuses invalid addresses.
func addressKey(address string) (string, error) {
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Address != address {
		return "", wire.InvalidArgument("Invalid email address: %q", address)
	}
	return strings.ToLower(address), nil
}

func alreadyExists(what string) error {
	return &wire.Error{Status: http.StatusConflict, Reason: "alreadyExists", Message: what + " already exists"}
}

// addAddress stores a new address.
func addAddress(ctx context.Context, tx queue.Tx, a *Account, kind, address string, value any) error {
	key, err := addressKey(address)
	if err != nil {
		return err
	}
	var text string
	switch err := dbquery.Get(ctx, tx, &text, selectSetting, a.id, kind, key); {
	case err == nil:
		return alreadyExists(address)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	return saveSetting(ctx, tx, a, kind, key, value)
}

// getAddress, listAddresses and deleteAddress handle the addresses of a kind.
func getAddress[T any](kind, param string) handler {
	return func(s *Server, ctx context.Context, r *request) (any, error) {
		value := new(T)
		return value, foundOr404(loadSetting(ctx, s.db.Reader(), r.account, kind, strings.ToLower(r.param(param)), value))
	}
}

func listAddresses[T any](kind string, answer func(values []*T) any) handler {
	return func(s *Server, ctx context.Context, r *request) (any, error) {
		values, err := loadSettings[T](ctx, s.db.Reader(), r.account, kind)
		return answer(values), err
	}
}

func deleteAddress(kind, param string) handler {
	return func(s *Server, ctx context.Context, r *request) (any, error) {
		return nil, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			return removeSetting(ctx, tx, r.account, kind, strings.ToLower(r.param(param)))
		})
	}
}

// createForwarding asks the owner of an address for agreement to forwarding; see [Person.Accept].
func (s *Server) createForwarding(ctx context.Context, r *request) (any, error) {
	var address gmail.ForwardingAddress
	if err := r.readJSON(&address); err != nil {
		return nil, err
	}
	address.VerificationStatus = statusPending
	return &address, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return addAddress(ctx, tx, r.account, kindForwarding, address.ForwardingEmail, &address)
	})
}

func (s *Server) createDelegate(ctx context.Context, r *request) (any, error) {
	var delegate gmail.Delegate
	if err := r.readJSON(&delegate); err != nil {
		return nil, err
	}
	delegate.VerificationStatus = statusPending
	return &delegate, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return addAddress(ctx, tx, r.account, kindDelegate, delegate.DelegateEmail, &delegate)
	})
}

var errNothingAsked = errors.New("nothing waits for the address to agree")

// Accept follows the link in the mail that asks the owner of an address for agreement: as an alias to send from, as an address to
// forward to, and as a delegate, whichever is pending.
func (p Person) Accept(ctx context.Context, address string) error {
	return p.write(ctx, func(ctx context.Context, tx queue.Tx) error {
		found := false
		for _, kind := range []string{kindSendAs, kindForwarding, kindDelegate} {
			value := make(map[string]any)
			err := loadSetting(ctx, tx, p.account, kind, strings.ToLower(address), &value)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err == nil && value["verificationStatus"] == statusPending {
				found, value["verificationStatus"] = true, statusAccepted
				err = saveSetting(ctx, tx, p.account, kind, strings.ToLower(address), value)
			}
			if err != nil {
				return err
			}
		}
		if !found {
			return fmt.Errorf("%w: %s", errNothingAsked, address)
		}
		return nil
	})
}
