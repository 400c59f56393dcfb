package gmailapi

import (
	"context"
	"errors"
)

// Clients returns the client of an account: the same one for each call, so that its limits hold.
type Clients interface {
	Client(ctx context.Context, accountID string) (*Client, error)
}

// A ClientsFunc is a function used as [Clients].
type ClientsFunc func(ctx context.Context, accountID string) (*Client, error)

// Client calls f.
func (f ClientsFunc) Client(ctx context.Context, accountID string) (*Client, error) {
	return f(ctx, accountID)
}

// FindClient returns the account's client, or an error: also if clients returns neither.
func FindClient(ctx context.Context, clients Clients, accountID string) (*Client, error) {
	client, err := clients.Client(ctx, accountID)
	if err == nil && client == nil {
		err = errors.New("Clients returned nil and no error; return a client made by NewClient, or an error")
	}
	return client, err
}
