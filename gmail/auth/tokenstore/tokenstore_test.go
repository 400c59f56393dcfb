package tokenstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"
	"github.com/zalando/go-keyring"

	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/auth/tokenstore"
)

func identity(t *testing.T) string {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	return key.String()
}

func TestChoice(t *testing.T) {
	dir, key := filepath.Join(t.TempDir(), "grants"), identity(t)
	auto := tokenstore.Config{Dir: dir, Identity: key}
	keyring.MockInit()
	s, err := tokenstore.Open(t.Context(), auto)
	require.NoError(t, err)
	require.Equal(t, tokenstore.Keychain, s.Kind)
	require.Equal(t, "it works", s.Why)

	keyring.MockInitWithError(errors.New("no desktop"))
	s, err = tokenstore.Open(t.Context(), auto)
	require.NoError(t, err)
	require.Equal(t, tokenstore.File, s.Kind)
	require.Contains(t, s.Why, "the keychain cannot be used: keychain: check: no desktop")
	require.NoError(t, s.Save(t.Context(), auth.Grant{Email: "ann@example.com", RefreshToken: "r"}))

	keyring.MockInit()
	s, err = tokenstore.Open(t.Context(), auto)
	require.NoError(t, err)
	require.Equal(t, tokenstore.File, s.Kind, "grants stay where they are")
	_, err = s.Load(t.Context(), "ann@example.com")
	require.NoError(t, err)

	auto.Kind = tokenstore.Keychain
	s, err = tokenstore.Open(t.Context(), auto)
	require.NoError(t, err)
	require.Equal(t, tokenstore.Keychain, s.Kind)
}

func TestPassphraseIsAskedOnlyForFiles(t *testing.T) {
	asked := 0
	cfg := tokenstore.Config{Dir: t.TempDir(), Passphrase: func(context.Context) (string, error) {
		asked++
		return "secret", nil
	}}
	keyring.MockInit()
	_, err := tokenstore.Open(t.Context(), cfg)
	require.NoError(t, err)
	require.Zero(t, asked)
	cfg.Kind = tokenstore.File
	_, err = tokenstore.Open(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, 1, asked)
}

func TestWhatIsMissing(t *testing.T) {
	keyring.MockInitWithError(errors.New("no desktop"))
	none := func(context.Context) (string, error) { return "", nil }
	for want, cfg := range map[string]tokenstore.Config{
		"no desktop; to keep grants in encrypted files, give Config.Dir": {},
		"the keychain cannot be used":                                    {Kind: tokenstore.Keychain, Dir: t.TempDir(), Identity: identity(t)},
		"give Config.Identity or Config.Passphrase":                      {Dir: t.TempDir()},
		"the passphrase is empty":                                        {Dir: t.TempDir(), Passphrase: none},
		"Config.Dir is empty":                                            {Kind: tokenstore.File, Identity: identity(t)},
		`Config.Kind is "cloud"`:                                         {Kind: "cloud"},
	} {
		_, err := tokenstore.Open(t.Context(), cfg)
		require.ErrorContains(t, err, want)
	}
}

func TestExistingBeginsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tokens")
	cfg := tokenstore.Config{
		Kind: tokenstore.File, Dir: dir, Existing: true,
		Passphrase: func(context.Context) (string, error) { t.Error("nothing is there to open"); return "", nil },
	}
	_, err := tokenstore.Open(t.Context(), cfg)
	require.ErrorIs(t, err, auth.ErrNoGrant)
	require.NoDirExists(t, dir)

	cfg.Existing, cfg.Passphrase = false, func(context.Context) (string, error) { return "correct horse", nil }
	_, err = tokenstore.Open(t.Context(), cfg)
	require.NoError(t, err)
	cfg.Existing = true
	_, err = tokenstore.Open(t.Context(), cfg)
	require.NoError(t, err)
}
