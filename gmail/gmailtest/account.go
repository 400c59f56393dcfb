package gmailtest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"strings"

	"golang.org/x/oauth2"
	"google.golang.org/api/gmail/v1"
	"google.golang.org/api/option"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/gmail/gmailtest/oauth"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// An Account is one mailbox of a [Server] and its owner. Mail from one account to another is delivered.
type Account struct {
	server *Server
	id     int64
	email  string
}

// An accountRow is the number and the address of an account.
type accountRow = oauth.Account

func (s *Server) account(row accountRow) *Account {
	return &Account{server: s, id: row.ID, email: row.Email}
}

// Account returns the mailbox of the address. It creates an empty one if the server has none.
func (s *Server) Account(ctx context.Context, email string) (*Account, error) {
	if err := checkEmail(email); err != nil {
		return nil, fmt.Errorf("gmailtest: %w", err)
	}
	var row accountRow
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		row, err = ensureAccount(ctx, tx, email)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("gmailtest: account %s: %w", email, err)
	}
	return s.account(row), nil
}

// checkEmail refuses an invalid address of a mailbox.
func checkEmail(email string) error {
	address, err := mail.ParseAddress(email)
	switch {
	case err != nil || address.Address != email:
		return fmt.Errorf("%q is no address such as ann@example.com", email)
	case !strings.EqualFold(withoutTag(email), email):
		return fmt.Errorf("%q has a tag after the plus: its mail comes to %s; give that", email, withoutTag(email))
	default:
		return nil
	}
}

// known returns the mailbox of the address, or errNoAccount.
func (s *Server) known(ctx context.Context, email string) (*Account, error) {
	row, err := loadAccount(ctx, s.db.Reader(), selectAccount, strings.ToLower(email))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: %s", errNoAccount, email)
	}
	return s.account(row), err
}

var errNoAccount = errors.New("gmailtest: no mailbox of this address")

// Email returns the address of the owner.
func (a *Account) Email() string { return a.email }

// Service returns a client of Google's library for this mailbox.
func (a *Account) Service(ctx context.Context) (*gmail.Service, error) {
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: cmp.Or(a.server.token, tokenPrefix+a.email)})
	return gmail.NewService(ctx, option.WithEndpoint(a.server.url), option.WithTokenSource(token))
}

func loadAccount(ctx context.Context, q dbquery.Querier, query string, args ...any) (accountRow, error) {
	var row accountRow
	err := dbquery.Get(ctx, q, &row, query, args...)
	return row, err
}

// ensureAccount returns the account of the address. It creates the account with its system labels if it is missing.
func ensureAccount(ctx context.Context, tx queue.Tx, email string) (accountRow, error) {
	key := strings.ToLower(email)
	created, err := dbquery.Exec(ctx, tx, createAccount, email, key, firstHistoryID)
	if err != nil {
		return accountRow{}, fmt.Errorf("create account: %w", err)
	}
	row, err := loadAccount(ctx, tx, selectAccount, key)
	if err == nil && created > 0 {
		err = insertSystemLabels(ctx, tx, row.ID)
	}
	return row, err
}

// tokenPrefix and an address make the access token of an account; the owner of the server needs no address.
const tokenPrefix = "gmailtest:"

// authenticate returns the credential of the request's token.
func (s *Server) authenticate(r *http.Request) (*credential, error) {
	token := bearer(r)
	if token == "" {
		return nil, wire.Unauthenticated()
	}
	if s.token != "" {
		return s.authenticateOwner(token)
	}
	if strings.HasPrefix(token, oauth.AccessPrefix) {
		owner, scopes, err := s.oauth.Authenticate(r.Context(), token)
		return &credential{account: s.account(owner), scopes: scopes}, err
	}
	email, named := strings.CutPrefix(token, tokenPrefix)
	switch {
	case s.oauth.Required() && !named:
		return nil, wire.InvalidCredentials()
	case !named:
		return &credential{account: s.owner}, nil
	}
	row, err := loadAccount(r.Context(), s.db.Reader(), selectAccount, strings.ToLower(email))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, wire.InvalidCredentials()
	}
	return &credential{account: s.account(row)}, err
}

// bearer returns the token of the request: from its header (RFC 6750, section 2.1), or from its query, as in the
// discovery document.
func bearer(r *http.Request) string {
	if value := r.Header.Get("Authorization"); value != "" {
		scheme, token, _ := strings.Cut(value, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return ""
		}
		return strings.TrimSpace(token)
	}
	query := r.URL.Query()
	return cmp.Or(query.Get("access_token"), query.Get("oauth_token"))
}

// mayBe refuses a user of the path who is not the token's owner.
func (a *Account) mayBe(user string) error {
	if user != "me" && !strings.EqualFold(user, a.email) {
		return &wire.Error{Status: http.StatusForbidden, Reason: "forbidden", Message: "Delegation denied for " + user}
	}
	return nil
}

// A server has one mailbox from the start, that of its owner. The following methods use it.

// Email returns the address of the owner.
func (s *Server) Email() string { return s.owner.email }

// Service returns a client of Google's library for the mailbox of the owner.
func (s *Server) Service(ctx context.Context) (*gmail.Service, error) { return s.owner.Service(ctx) }

// Import is [Account.Import] into the mailbox of the owner.
func (s *Server) Import(ctx context.Context, source mailbox.Source, progress func(done int)) (added int, err error) {
	return s.owner.Import(ctx, source, progress)
}

// Deliver is [Account.Deliver] to the owner.
func (s *Server) Deliver(ctx context.Context, raw []byte) (Message, error) {
	return s.owner.Deliver(ctx, raw)
}

// CreateLabels is [Account.CreateLabels] in the mailbox of the owner.
func (s *Server) CreateLabels(ctx context.Context, names ...string) error {
	return s.owner.CreateLabels(ctx, names...)
}

// Message is [Account.Message] in the mailbox of the owner.
func (s *Server) Message(ctx context.Context, id string) (Message, error) {
	return s.owner.Message(ctx, id)
}

// Position is [Account.Position] in the mailbox of the owner.
func (s *Server) Position(ctx context.Context, id string) (int, error) {
	return s.owner.Position(ctx, id)
}

// Snapshot is [Account.Snapshot] of the mailbox of the owner.
func (s *Server) Snapshot(ctx context.Context) ([]Message, error) { return s.owner.Snapshot(ctx) }

// Refused is [Account.Refused] of the mailbox of the owner.
func (s *Server) Refused(ctx context.Context) ([]Refused, error) { return s.owner.Refused(ctx) }

// Count is [Account.Count] of the mailbox of the owner.
func (s *Server) Count(ctx context.Context) (int, error) { return s.owner.Count(ctx) }

// ForgetHistory is [Account.ForgetHistory] of the mailbox of the owner.
func (s *Server) ForgetHistory(ctx context.Context) error { return s.owner.ForgetHistory(ctx) }
