package keychain_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zalando/go-keyring"

	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/auth/keychain"
)

func TestGrantsAreKept(t *testing.T) {
	keyring.MockInit()
	s := keychain.New("")
	require.NoError(t, s.Check(t.Context()))
	emails, err := s.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, emails)
	_, err = s.Load(t.Context(), "ann@example.com")
	require.ErrorIs(t, err, auth.ErrNoGrant)

	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			grant := auth.Grant{Email: fmt.Sprintf("a%02d@example.com", i), RefreshToken: "r",
				Scopes: []string{auth.ScopeModify}}
			require.NoError(t, s.Save(t.Context(), grant))
			require.NoError(t, s.Save(t.Context(), grant))
			got, err := s.Load(t.Context(), fmt.Sprintf(" A%02d@Example.com", i))
			require.NoError(t, err)
			require.Equal(t, grant, got)
		})
	}
	all.Wait()
	emails, err = keychain.New(keychain.DefaultService).List(t.Context())
	require.NoError(t, err)
	require.Len(t, emails, 20)
	require.IsIncreasing(t, emails)
	require.NoError(t, s.Delete(t.Context(), "A07@example.com"))
	require.NoError(t, s.Delete(t.Context(), "a07@example.com"))
	emails, err = s.List(t.Context())
	require.NoError(t, err)
	require.Len(t, emails, 19)
	require.NotContains(t, emails, "a07@example.com")

	other, err := keychain.New("other").List(t.Context())
	require.NoError(t, err)
	require.Empty(t, other)
	require.Error(t, s.Save(t.Context(), auth.Grant{Email: "a@example.com"}))
}

func TestKeychainThatFails(t *testing.T) {
	keyring.MockInitWithError(errors.New("locked"))
	s := keychain.New("")
	require.ErrorContains(t, s.Check(t.Context()), "keychain: check: locked")
	_, err := s.Load(t.Context(), "ann@example.com")
	require.ErrorContains(t, err, "load the grant of ann@example.com: locked")
	require.NotErrorIs(t, err, auth.ErrNoGrant)
	require.ErrorContains(t, s.Save(t.Context(), auth.Grant{Email: "ann@example.com", RefreshToken: "hush"}), "locked")
	require.ErrorContains(t, s.Delete(t.Context(), "ann@example.com"), "locked")
	_, err = s.List(t.Context())
	require.ErrorContains(t, err, "locked")
}

func TestKeychainThatDoesNotAnswer(t *testing.T) {
	keyring.MockInit()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	s := keychain.New("")
	for range 20 {
		require.ErrorContains(t, s.Check(ctx), "no answer: enough")
		grant := auth.Grant{Email: "ann@example.com", RefreshToken: "r", Scopes: []string{auth.ScopeModify}}
		require.ErrorContains(t, s.Save(ctx, grant), "no answer: enough")
	}
	_, err := s.Load(t.Context(), "ann@example.com")
	require.ErrorIs(t, err, auth.ErrNoGrant, "it has not been asked")
}
