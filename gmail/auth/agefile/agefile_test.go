package agefile_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/auth/agefile"
)

var grant = auth.Grant{
	Email: "ann+x/../y@example.com", RefreshToken: "1//hush", Scopes: []string{auth.ScopeModify}, ClientID: "c",
	GrantedAt: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
}

func open(t *testing.T, cfg agefile.Config) *agefile.Store {
	t.Helper()
	s, err := agefile.Open(cfg)
	require.NoError(t, err)
	return s
}

func TestGrantsAreKept(t *testing.T) {
	hybrid, err := age.GenerateHybridIdentity()
	require.NoError(t, err)
	classic, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	for name, cfg := range map[string]agefile.Config{
		"passphrase":   {Passphrase: "correct horse"},
		"identity":     {Identity: "# created: 2026\n" + classic.String() + "\n"},
		"post-quantum": {Identity: hybrid.String()},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Dir = filepath.Join(t.TempDir(), "grants")
			used, err := agefile.Used(cfg.Dir)
			require.NoError(t, err)
			require.False(t, used)
			emails, err := agefile.Addresses(cfg.Dir)
			require.NoError(t, err)
			require.Empty(t, emails)
			s := open(t, cfg)
			_, err = s.Load(t.Context(), grant.Email)
			require.ErrorIs(t, err, auth.ErrNoGrant)
			require.NoError(t, s.Save(t.Context(), grant))
			changed := grant
			changed.RefreshToken = "1//hush-hush"
			require.NoError(t, s.Save(t.Context(), changed))
			require.ErrorContains(t, s.Save(t.Context(), auth.Grant{Email: "Ann@example.com", RefreshToken: "x"}),
				"in lower case")

			s = open(t, cfg) // another process
			got, err := s.Load(t.Context(), strings.ToUpper(grant.Email))
			require.NoError(t, err)
			require.Equal(t, changed, got)
			emails, err = s.List(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{grant.Email}, emails)
			emails, err = agefile.Addresses(cfg.Dir)
			require.NoError(t, err)
			require.Equal(t, []string{grant.Email}, emails)
			requirePrivate(t, cfg.Dir)
			used, err = agefile.Used(cfg.Dir)
			require.NoError(t, err)
			require.True(t, used)

			require.NoError(t, s.Delete(t.Context(), grant.Email))
			require.NoError(t, s.Delete(t.Context(), grant.Email))
			_, err = s.Load(t.Context(), grant.Email)
			require.ErrorIs(t, err, auth.ErrNoGrant)
		})
	}
}

// requirePrivate fails if anybody else may read what is in the directory, or finds a token in it.
func requirePrivate(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
		require.NotContains(t, string(content), "hush")
		require.NotContains(t, string(content), "AGE-SECRET-KEY")
	}
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestKeysThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	s := open(t, agefile.Config{Dir: dir, Passphrase: "right"})
	require.NoError(t, s.Save(t.Context(), grant))
	_, err := agefile.Open(agefile.Config{Dir: dir, Passphrase: "wrong"})
	require.ErrorIs(t, err, agefile.ErrWrongKey)
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	_, err = agefile.Open(agefile.Config{Dir: dir, Identity: identity.String()})
	require.ErrorContains(t, err, "was made with a passphrase")

	require.NoError(t, os.Remove(filepath.Join(dir, "identity.age")))
	_, err = agefile.Open(agefile.Config{Dir: dir, Passphrase: "right"})
	require.ErrorContains(t, err, "there are grants and no identity.age")
	s = open(t, agefile.Config{Dir: dir, Identity: identity.String()})
	_, err = s.Load(t.Context(), grant.Email)
	require.ErrorIs(t, err, agefile.ErrWrongKey)

	for want, cfg := range map[string]agefile.Config{
		"Config.Dir is empty": {Passphrase: "x"},
		"give one of":         {Dir: dir},
		"and Config.Identity": {Dir: dir, Passphrase: "x", Identity: "y"},
		"none of age's":       {Dir: dir, Identity: "AGE-SECRET-KEY-1HUSH"},
	} {
		_, err := agefile.Open(cfg)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "HUSH")
	}
}

func TestFilesThatWereAltered(t *testing.T) {
	dir := t.TempDir()
	s := open(t, agefile.Config{Dir: dir, Passphrase: "p"})
	require.NoError(t, s.Save(t.Context(), grant))
	entries, err := filepath.Glob(filepath.Join(dir, "ann*"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.NoError(t, os.Link(entries[0], filepath.Join(dir, "bob%40example.com.age")))
	_, err = s.Load(t.Context(), "bob@example.com")
	require.ErrorContains(t, err, "the file was renamed")

	content, err := os.ReadFile(entries[0])
	require.NoError(t, err)
	for _, broken := range [][]byte{nil, content[:len(content)-1], append(slices.Clip(content), 'x')} {
		require.NoError(t, os.WriteFile(entries[0], broken, 0o600))
		_, err = s.Load(t.Context(), grant.Email)
		require.Error(t, err)
		require.NotErrorIs(t, err, auth.ErrNoGrant)
	}
}

// What killed processes have left goes with the next save. What a process is about to write stays, and so does what
// is no draft.
func TestDraftsOfKilledProcessesGo(t *testing.T) {
	dir := t.TempDir()
	s := open(t, agefile.Config{Dir: dir, Passphrase: "p"})
	ages := map[string]time.Duration{".draft-1": 2 * time.Hour, ".draft-2": 30 * 24 * time.Hour, ".draft-now": 0,
		".other": 2 * time.Hour}
	for name, age := range ages {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte("sealed"), 0o600))
		require.NoError(t, os.Chtimes(file, time.Time{}, time.Now().Add(-age)))
	}
	require.NoError(t, s.Save(t.Context(), grant))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	require.Equal(t, []string{".draft-now", ".other"}, names)
}

const killEnv = "POSTROOM_TEST_AGEFILE"

// A process that saves is killed at any time: what is there can be read, and is what it saved last or was about to.
func TestKill(t *testing.T) {
	if dir := os.Getenv(killEnv); dir != "" {
		s, err := agefile.Open(agefile.Config{Dir: dir, Passphrase: "p"})
		for i := 0; err == nil; i++ {
			next := grant
			next.RefreshToken = strconv.Itoa(i)
			if err = s.Save(context.Background(), next); err == nil {
				fmt.Fprintln(os.Stdout, "saved", i)
			}
		}
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	for round := range 12 {
		dir := t.TempDir()
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKill$")
		command.Env = append(os.Environ(), killEnv+"="+dir)
		out, err := command.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, command.Start())
		saved := -1
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, err := fmt.Sscanf(lines.Text(), "saved %d", &saved); err != nil {
				t.Error(lines.Text())
			}
			if saved == round {
				require.NoError(t, command.Process.Kill())
			}
		}
		require.Error(t, command.Wait())
		got, err := open(t, agefile.Config{Dir: dir, Passphrase: "p"}).Load(t.Context(), grant.Email)
		require.NoError(t, err)
		require.Contains(t, []string{strconv.Itoa(saved), strconv.Itoa(saved + 1)}, got.RefreshToken)
	}
}
