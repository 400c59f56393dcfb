// Package keychain stores grants in the keychain of the operating system: the macOS keychain, the Credential Manager
// of Windows, or the Secret Service of Linux desktops (GNOME Keyring, KWallet, KeePassXC).
package keychain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zalando/go-keyring"

	"github.com/postroom-go/postroom/gmail/auth"
)

// DefaultService is the default service name of grants.
const DefaultService = "postroom"

// Keychains cannot list their items, so this item has the addresses. Its name is not an address itself.
const index = "accounts"

// A Store stores grants in the keychain of the person who runs the program. It is safe for concurrent use. Several
// processes may share it. But if two of them save the grant of a new address, or delete one, at the same instant, one
// may be missing from List.
//
// A keychain may ask the person for a password first. Methods return when their context ends, but the question stays:
// the operation runs when it is answered. A method whose context ends before its turn does nothing. [New] makes a
// Store; the zero Store is unusable.
type Store struct {
	service string
	turn    chan struct{} // holds one value while the keychain is in use
}

var _ auth.Tokens = (*Store)(nil)

// New makes a store of the grants under a service name. If the name is empty, it is [DefaultService].
func New(service string) *Store {
	if service == "" {
		service = DefaultService
	}
	return &Store{service: service, turn: make(chan struct{}, 1)}
}

// Check returns an error if the keychain cannot be used. It stores a value, reads it and deletes it.
func (s *Store) Check(ctx context.Context) error {
	const item, value = "check", "can be deleted"
	_, err := do(ctx, s, "check", func() (none, error) {
		if err := keyring.Set(s.service, item, value); err != nil {
			return none{}, err
		}
		got, err := keyring.Get(s.service, item)
		if err == nil && got != value {
			err = errors.New("it returns something else than was stored")
		}
		return none{}, errors.Join(err, keyring.Delete(s.service, item))
	})
	return err
}

// Load returns the grant of the address, or [auth.ErrNoGrant].
func (s *Store) Load(ctx context.Context, email string) (auth.Grant, error) {
	email = normal(email)
	return do(ctx, s, "load the grant of "+email, func() (grant auth.Grant, err error) {
		text, err := keyring.Get(s.service, email)
		if errors.Is(err, keyring.ErrNotFound) {
			return grant, auth.ErrNoGrant
		}
		if err == nil {
			err = json.Unmarshal([]byte(text), &grant)
		}
		return grant, err
	})
}

// Save stores the grant.
func (s *Store) Save(ctx context.Context, grant auth.Grant) error {
	if err := grant.Validate(); err != nil {
		return err
	}
	text, err := json.Marshal(grant) //nolint:gosec // to be encrypted
	if err != nil {
		return fmt.Errorf("keychain: %w", err)
	}
	_, err = do(ctx, s, "save the grant of "+grant.Email, func() (none, error) {
		if err := keyring.Set(s.service, grant.Email, string(text)); err != nil {
			return none{}, err
		}
		return none{}, s.edit(func(emails []string) []string { return append(emails, grant.Email) })
	})
	return err
}

// Delete removes the grant of the address.
func (s *Store) Delete(ctx context.Context, email string) error {
	email = normal(email)
	_, err := do(ctx, s, "delete the grant of "+email, func() (none, error) {
		if err := keyring.Delete(s.service, email); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return none{}, err
		}
		return none{}, s.edit(func(emails []string) []string {
			return slices.DeleteFunc(emails, func(e string) bool { return e == email })
		})
	})
	return err
}

// List returns the addresses, sorted.
func (s *Store) List(ctx context.Context) ([]string, error) {
	return do(ctx, s, "list the grants", s.emails)
}

func (s *Store) emails() ([]string, error) {
	text, err := keyring.Get(s.service, index)
	if errors.Is(err, keyring.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var emails []string
	err = json.Unmarshal([]byte(text), &emails)
	return emails, err
}

// edit changes the list of addresses, unless the change has no effect.
func (s *Store) edit(change func(emails []string) []string) error {
	old, err := s.emails()
	if err != nil {
		return err
	}
	emails := change(slices.Clone(old))
	slices.Sort(emails)
	if emails = slices.Compact(emails); slices.Equal(emails, old) {
		return nil
	}
	text, err := json.Marshal(emails)
	if err != nil {
		return err
	}
	return keyring.Set(s.service, index, string(text))
}

// none is the result of a function without one.
type none struct{}

// do runs fn, one call at a time, and returns when ctx ends. Keychains do not support contexts: an fn that has
// started then runs on, and the next one waits for it. An fn that has not started is not run.
func do[T any](ctx context.Context, s *Store, what string, fn func() (T, error)) (value T, err error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return value, noAnswer(ctx, what)
	}
	if ctx.Err() != nil { // both were ready
		<-s.turn
		return value, noAnswer(ctx, what)
	}
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		defer func() { <-s.turn }()
		value, err := fn()
		answered <- answer{value, err}
	}()
	select {
	case a := <-answered:
		if a.err != nil {
			return value, fmt.Errorf("keychain: %s: %w", what, a.err)
		}
		return a.value, nil
	case <-ctx.Done():
		return value, noAnswer(ctx, what)
	}
}

func noAnswer(ctx context.Context, what string) error {
	return fmt.Errorf("keychain: %s: no answer: %w", what, context.Cause(ctx))
}

func normal(email string) string { return strings.ToLower(strings.TrimSpace(email)) }
