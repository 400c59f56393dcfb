package gmailtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"reflect"
	"strings"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// primary returns the default address of every account.
func (a *Account) primary() *gmail.SendAs {
	return &gmail.SendAs{SendAsEmail: a.email, IsPrimary: true, IsDefault: true}
}

// loadSendAs returns an alias, including the primary address. The error is sql.ErrNoRows if there is none.
func loadSendAs(ctx context.Context, q dbquery.Querier, a *Account, address string) (*gmail.SendAs, error) {
	alias := new(gmail.SendAs)
	err := loadSetting(ctx, q, a, kindSendAs, strings.ToLower(address), alias)
	if errors.Is(err, sql.ErrNoRows) && strings.EqualFold(address, a.email) {
		return a.primary(), nil
	}
	return alias, err
}

// allSendAs returns all aliases, the primary address first.
func allSendAs(ctx context.Context, q dbquery.Querier, a *Account) ([]*gmail.SendAs, error) {
	first, err := loadSendAs(ctx, q, a, a.email)
	if err != nil {
		return nil, err
	}
	stored, err := loadSettings[gmail.SendAs](ctx, q, a, kindSendAs)
	aliases := []*gmail.SendAs{first}
	for _, alias := range stored {
		if !alias.IsPrimary {
			aliases = append(aliases, alias)
		}
	}
	return aliases, err
}

func (s *Server) listSendAs(ctx context.Context, r *request) (any, error) {
	aliases, err := allSendAs(ctx, s.db.Reader(), r.account)
	return &gmail.ListSendAsResponse{SendAs: aliases}, err
}

func (s *Server) getSendAs(ctx context.Context, r *request) (any, error) {
	alias, err := loadSendAs(ctx, s.db.Reader(), r.account, r.param("sendAsEmail"))
	return alias, foundOr404(err)
}

// createSendAs asks the owner of the address for agreement; see [Person.Accept]. An address of the account's own
// domain needs no agreement, unless it is sent through another server.
func (s *Server) createSendAs(ctx context.Context, r *request) (any, error) {
	var alias gmail.SendAs
	if err := r.readJSON(&alias); err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(r.account.email, "@")
	alias.IsPrimary, alias.VerificationStatus = false, statusPending
	if alias.SmtpMsa == nil && strings.HasSuffix(strings.ToLower(alias.SendAsEmail), "@"+strings.ToLower(domain)) {
		alias.VerificationStatus = statusAccepted
	}
	if alias.SmtpMsa != nil {
		if alias.SmtpMsa.Host == "" || alias.SmtpMsa.Port <= 0 {
			return nil, wire.InvalidArgument("Invalid SMTP MSA: host and port are required")
		}
		alias.SmtpMsa.Username, alias.SmtpMsa.Password = "", "" // they are never shown
	}
	return &alias, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if strings.EqualFold(alias.SendAsEmail, r.account.email) {
			return alreadyExists(alias.SendAsEmail)
		}
		if err := addAddress(ctx, tx, r.account, kindSendAs, alias.SendAsEmail, &alias); err != nil {
			return err
		}
		return onlyDefault(ctx, tx, r.account, &alias)
	})
}

func (s *Server) patchSendAs(ctx context.Context, r *request) (any, error) {
	return s.changeSendAs(ctx, r, false)
}

func (s *Server) updateSendAs(ctx context.Context, r *request) (any, error) {
	return s.changeSendAs(ctx, r, true)
}

// changeSendAs changes an alias. An update, unlike a patch, empties the fields that the request does not have.
func (s *Server) changeSendAs(ctx context.Context, r *request, whole bool) (any, error) {
	given := make(map[string]any)
	if err := r.readJSONAs(reflect.TypeFor[gmail.SendAs](), &given); err != nil {
		return nil, err
	}
	var alias *gmail.SendAs
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if alias, err = loadSendAs(ctx, tx, r.account, r.param("sendAsEmail")); err != nil {
			return foundOr404(err)
		}
		for name, field := range map[string]*string{"displayName": &alias.DisplayName,
			"replyToAddress": &alias.ReplyToAddress, "signature": &alias.Signature} {
			if text, ok := given[name].(string); ok || whole {
				*field = text
			}
		}
		if treat, ok := given["treatAsAlias"].(bool); ok || whole {
			alias.TreatAsAlias = treat
		}
		if isDefault, ok := given["isDefault"].(bool); ok && isDefault {
			alias.IsDefault = true
		}
		if err := saveSetting(ctx, tx, r.account, kindSendAs, strings.ToLower(alias.SendAsEmail), alias); err != nil {
			return err
		}
		return onlyDefault(ctx, tx, r.account, alias)
	})
	return alias, err
}

// onlyDefault removes the default from the other aliases, if this one is now the default.
func onlyDefault(ctx context.Context, tx queue.Tx, a *Account, now *gmail.SendAs) error {
	if !now.IsDefault {
		return nil
	}
	aliases, err := allSendAs(ctx, tx, a)
	if err != nil {
		return err
	}
	for _, other := range aliases {
		if !other.IsDefault || strings.EqualFold(other.SendAsEmail, now.SendAsEmail) {
			continue
		}
		other.IsDefault = false
		if err := saveSetting(ctx, tx, a, kindSendAs, strings.ToLower(other.SendAsEmail), other); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) deleteSendAs(ctx context.Context, r *request) (any, error) {
	if strings.EqualFold(r.param("sendAsEmail"), r.account.email) {
		return nil, wire.InvalidArgument("Cannot delete the primary send-as address")
	}
	return deleteAddress(kindSendAs, "sendAsEmail")(s, ctx, r)
}

// verifySendAs sends the mail that asks for agreement again.
func (s *Server) verifySendAs(ctx context.Context, r *request) (any, error) {
	alias, err := loadSendAs(ctx, s.db.Reader(), r.account, r.param("sendAsEmail"))
	if err == nil && alias.VerificationStatus != statusPending {
		err = wire.InvalidArgument("The address %s is verified already", alias.SendAsEmail)
	}
	return nil, foundOr404(err)
}

// sendsFrom returns the addresses that the account may send from, in lower case.
func (a *Account) sendsFrom(ctx context.Context, q dbquery.Querier) (addresses []string, err error) {
	aliases, err := allSendAs(ctx, q, a)
	for _, alias := range aliases {
		if alias.IsPrimary || alias.VerificationStatus == statusAccepted {
			addresses = append(addresses, strings.ToLower(alias.SendAsEmail))
		}
	}
	return addresses, err
}

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

// Accept follows the link in the mail that asks the owner of an address for agreement: as an alias to send from, as
// an address to forward to, and as a delegate, whichever is pending.
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
