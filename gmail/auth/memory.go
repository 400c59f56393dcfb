package auth

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Memory is a [Tokens] for tests. It keeps grants in memory only. The zero Memory is empty and ready to use.
type Memory struct {
	mu     sync.Mutex
	grants map[string]Grant
}

var _ Tokens = (*Memory)(nil)

// Load returns the grant of the address, or [ErrNoGrant].
func (m *Memory) Load(_ context.Context, email string) (Grant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	grant, ok := m.grants[normal(email)]
	if !ok {
		return Grant{}, fmt.Errorf("auth: %s: %w", email, ErrNoGrant)
	}
	grant.Scopes = slices.Clone(grant.Scopes)
	return grant, nil
}

// Save stores the grant.
func (m *Memory) Save(_ context.Context, grant Grant) error {
	if err := grant.Validate(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.grants == nil {
		m.grants = make(map[string]Grant)
	}
	grant.Scopes = slices.Clone(grant.Scopes)
	m.grants[grant.Email] = grant
	return nil
}

// Delete removes the grant of the address.
func (m *Memory) Delete(_ context.Context, email string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.grants, normal(email))
	return nil
}

// List returns the addresses, sorted.
func (m *Memory) List(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.grants)), nil
}
