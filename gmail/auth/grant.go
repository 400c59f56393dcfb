package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// ErrNoGrant reports that the store has no grant for the address.
var ErrNoGrant = errors.New("no grant is kept for this address")

// ErrNotDeleted reports that a grant is revoked and still kept.
var ErrNotDeleted = errors.New("it is revoked, and not deleted")

// A Grant is the access that a person has granted. It is a secret: anyone who has it can use the mailbox. Its String
// and LogValue methods leave out the token.
type Grant struct {
	Email        string    `json:"email"` // of the mailbox, in lower case
	RefreshToken string    `json:"refresh_token"`
	Scopes       []string  `json:"scopes"`    // the granted ones, sorted
	ClientID     string    `json:"client_id"` // of the App that it was granted to
	GrantedAt    time.Time `json:"granted_at"`
}

// String describes the grant without its token.
func (g Grant) String() string {
	return fmt.Sprintf("grant of %s to %s (%s)", g.Email, g.ClientID, strings.Join(g.Scopes, " "))
}

// GoString is [Grant.String].
func (g Grant) GoString() string { return g.String() }

// LogValue describes the grant without its token.
func (g Grant) LogValue() slog.Value {
	return slog.GroupValue(slog.String("email", g.Email), slog.String("client_id", g.ClientID),
		slog.Any("scopes", g.Scopes))
}

// Validate returns an error that names the missing or invalid field, if a store cannot keep the grant.
func (g Grant) Validate() error {
	switch {
	case !strings.Contains(g.Email, "@") || g.Email != normal(g.Email):
		return fmt.Errorf("auth: Grant.Email is %q; it must be an address in lower case", g.Email)
	case g.RefreshToken == "":
		return fmt.Errorf("auth: the grant of %s has no refresh token", g.Email)
	}
	return nil
}

// normal returns the form in which addresses are kept and compared.
func normal(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// Tokens stores grants, one for each address. Addresses are compared without regard to case. Its methods must be safe
// for concurrent use, and an error must not quote a token. An implementation must not store a grant in the clear. A
// Save that is interrupted at any instruction must leave the old grant or the new one.
type Tokens interface {
	// Load returns the grant of the address, or [ErrNoGrant].
	Load(ctx context.Context, email string) (Grant, error)
	// Save replaces the grant of its address. The grant is durable when Save returns.
	Save(ctx context.Context, grant Grant) error
	// Delete removes the grant of the address. It returns nil if there is none.
	Delete(ctx context.Context, email string) error
	// List returns the addresses, sorted.
	List(ctx context.Context) ([]string, error)
}

// A Locker is a [Tokens] that several processes share. With a Locker, a [Source] loads, refreshes and saves the grant
// while it holds the lock of the address, so that no process uses a refresh token that another has replaced
// meanwhile. Without it, a refused Source loads the grant again. That is enough for servers that do not replace
// refresh tokens at each refresh, such as Google's.
type Locker interface {
	// Lock waits until no other process holds the lock of the address, or ctx ends. The lock ends with unlock, or with the
	// process.
	Lock(ctx context.Context, email string) (unlock func(), err error)
}
