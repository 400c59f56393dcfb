package gmail

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/fields"
)

// AccountClientsConfig configures [AccountClients]. It is copied and checked once, by [NewClients].
type AccountClientsConfig struct {
	// Store has the accounts. Required.
	Store *mailstore.Store
	// HTTPClient returns the client that carries and authorizes the requests of an account, such as the HTTPClient of an
	// auth.Source. It is called once for each account, when the account is first used, and again after an error. If this
	// process has no access to the account and another one may, return an [*gmailapi.Error] of [gmailapi.ClassNoAccess].
	// Its clients should share one transport, so that they share connections. Required.
	HTTPClient func(ctx context.Context, account mailstore.Account) (*http.Client, error)
	// Endpoint, Timeout and Limits are those of each account's [gmailapi.ClientConfig]; each account has the whole
	// Limits. If the Store is on PostgreSQL, the limits hold for all processes on it together: the units per minute
	// exactly; a Retry-After after two seconds; and Concurrent is divided among the processes that call for the account,
	// except during the seconds in which one joins.
	Endpoint string
	Timeout  time.Duration
	Limits   gmailapi.Limits
}

// AccountClients makes one client for each account, when it is first used, and returns the same one from then on. It
// is safe for concurrent use. [NewClients] makes one.
type AccountClients struct {
	cfg AccountClientsConfig

	mu      sync.Mutex
	clients map[string]*accountClient
}

var _ gmailapi.Clients = (*AccountClients)(nil)

// An accountClient is the place of one account's client.
type accountClient struct {
	mu     sync.Mutex
	client *gmailapi.Client // nil before the first use
}

// NewClients makes the clients of all accounts; a bad configuration is an error that names the field.
func NewClients(cfg AccountClientsConfig) (*AccountClients, error) {
	err := errors.Join(
		fields.Required("gmail: AccountClientsConfig.Store", cfg.Store, giveStore),
		fields.Required("gmail: AccountClientsConfig.HTTPClient", cfg.HTTPClient,
			"a function that returns an account's HTTP client"),
	)
	if err != nil {
		return nil, err
	}
	if err := cfg.Limits.Validate(); err != nil {
		return nil, fmt.Errorf("gmail: AccountClientsConfig.%w", err)
	}
	if cfg.Timeout < 0 {
		return nil, fmt.Errorf("gmail: AccountClientsConfig.Timeout is %v; it must be positive", cfg.Timeout)
	}
	return &AccountClients{cfg: cfg, clients: make(map[string]*accountClient)}, nil
}

// Client returns the client of the account. Within a job of this package it uses the account as the attempt has read
// it. A missing account is an error of [gmailapi.ClassNotFound] that matches [postroom.ErrNotFound], and its client
// is dropped.
func (c *AccountClients) Client(ctx context.Context, accountID string) (*gmailapi.Client, error) {
	account, err := jobAccount(ctx, c.cfg.Store, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		c.Forget(accountID)
		err = &gmailapi.Error{Op: "use account " + accountID, Class: gmailapi.ClassNotFound, Err: err}
	}
	if err != nil {
		return nil, err
	}
	place := c.place(accountID)
	place.mu.Lock()
	defer place.mu.Unlock()
	if place.client != nil {
		return place.client, nil
	}
	carrier, err := c.cfg.HTTPClient(ctx, account)
	if err == nil {
		err = fields.Required("gmail: AccountClientsConfig.HTTPClient: the client of "+account.Email, carrier,
			"a client and no error, or an error")
	}
	if err == nil {
		place.client, err = c.newClient(carrier, accountID)
	}
	return place.client, err
}

// newClient makes the client of an account. On PostgreSQL its limits hold for all processes together.
func (c *AccountClients) newClient(carrier *http.Client, accountID string) (*gmailapi.Client, error) {
	return gmailapi.NewClient(gmailapi.ClientConfig{
		HTTPClient: carrier, Endpoint: c.cfg.Endpoint, Timeout: c.cfg.Timeout, Limits: c.cfg.Limits,
		Shared: &gmailapi.SharedLimits{DB: c.cfg.Store.DB(), AccountID: accountID},
	})
}

func (c *AccountClients) place(accountID string) *accountClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	place := c.clients[accountID]
	if place == nil {
		place = new(accountClient)
		c.clients[accountID] = place
	}
	return place
}

// Forget drops the client of an account, such as one that was removed. The next call of Client makes another.
func (c *AccountClients) Forget(accountID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.clients, accountID)
}
