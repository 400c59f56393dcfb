// Package agefile stores grants in files that are encrypted with age (https://age-encryption.org/v1), for machines
// without a keychain.
//
// Each grant is a file of its own in one directory, so that processes may share the directory. A new file is written
// next to the old one, synced and renamed: a process that is killed at any instruction leaves the old grant or the
// new one. File names contain the address in the clear; everything else is encrypted.
//
// The key is an age identity from the host, or one that is created with the directory and kept there, encrypted with a
// passphrase. If it is lost, the person must sign in again.
package agefile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/postroom-go/postroom/gmail/auth"
)

// ErrWrongKey reports that the passphrase or the identity is not that of the directory or the grant.
var ErrWrongKey = errors.New("the passphrase or key does not fit")

const (
	extension    = ".age"
	identityFile = "identity" + extension
	maxFile      = 1 << 20 // bytes of a file, decrypted
)

// Config configures a [Store]. One of Passphrase and Identity is required.
type Config struct {
	// Dir is the directory. It is created if missing, readable by its owner only. Required.
	Dir string
	// Passphrase decrypts the identity in Dir. For an empty Dir, a new identity is created and encrypted with it.
	Passphrase string
	// Identity is the text of an age identity in the form of age-keygen: AGE-SECRET-KEY-1… or AGE-SECRET-KEY-PQ-1….
	Identity string
}

// A Store stores grants in a directory. It is safe for concurrent use, also by several processes. [Open] makes one.
type Store struct {
	dir       string
	identity  age.Identity
	recipient age.Recipient
}

var _ auth.Tokens = (*Store)(nil)

// Open opens the directory, or creates it. It returns [ErrWrongKey] if the passphrase is wrong; checking it takes
// about a second.
func Open(cfg Config) (*Store, error) {
	switch {
	case cfg.Dir == "":
		return nil, errors.New("agefile: Config.Dir is empty; give the directory that keeps the grants")
	case (cfg.Passphrase == "") == (cfg.Identity == ""):
		return nil, errors.New("agefile: give one of Config.Passphrase and Config.Identity")
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("agefile: %w", err)
	}
	identity, err := cfg.key()
	if err != nil {
		return nil, fmt.Errorf("agefile: %s: %w", cfg.Dir, err)
	}
	s := &Store{dir: cfg.Dir, identity: identity}
	switch own := identity.(type) {
	case *age.X25519Identity:
		s.recipient = own.Recipient()
	case *age.HybridIdentity:
		s.recipient = own.Recipient()
	default:
		return nil, fmt.Errorf("agefile: Config.Identity is a %T; it must be a key that age-keygen has made", identity)
	}
	return s, nil
}

// Used reports whether the directory has grants or a key.
func Used(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("agefile: %w", err)
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), extension) }), nil
}

// Load returns the grant of the address, or [auth.ErrNoGrant].
func (s *Store) Load(_ context.Context, email string) (auth.Grant, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	sealed, err := os.ReadFile(s.file(email))
	if errors.Is(err, fs.ErrNotExist) {
		return auth.Grant{}, fmt.Errorf("agefile: %s: %w", email, auth.ErrNoGrant)
	}
	if err != nil {
		return auth.Grant{}, fmt.Errorf("agefile: %w", err)
	}
	text, err := open(sealed, s.identity)
	if err != nil {
		return auth.Grant{}, fmt.Errorf("agefile: %s: %w", s.file(email), err)
	}
	var grant auth.Grant
	if err := json.Unmarshal(text, &grant); err != nil {
		return auth.Grant{}, fmt.Errorf("agefile: %s: not a grant: %w", s.file(email), err)
	}
	if grant.Email != email {
		return auth.Grant{}, fmt.Errorf("agefile: %s has the grant of %s: the file was renamed", s.file(email), grant.Email)
	}
	return grant, nil
}

// Save stores the grant.
func (s *Store) Save(_ context.Context, grant auth.Grant) error {
	if err := grant.Validate(); err != nil {
		return err
	}
	text, err := json.Marshal(grant) //nolint:gosec // to be encrypted
	if err != nil {
		return fmt.Errorf("agefile: %w", err)
	}
	sealed, err := seal(text, s.recipient)
	if err == nil {
		err = replace(s.file(grant.Email), sealed)
	}
	if err != nil {
		return fmt.Errorf("agefile: save the grant of %s: %w", grant.Email, err)
	}
	return nil
}

// Delete removes the grant of the address.
func (s *Store) Delete(_ context.Context, email string) error {
	err := os.Remove(s.file(strings.ToLower(strings.TrimSpace(email))))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("agefile: %w", err)
	}
	return nil
}

// List returns the addresses, sorted.
func (s *Store) List(context.Context) ([]string, error) { return Addresses(s.dir) }

// Addresses returns the addresses whose grants are in the directory, sorted. It needs no key. Without the directory
// there are none.
func Addresses(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("agefile: %w", err)
	}
	var emails []string
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), extension)
		if email, err := url.QueryUnescape(name); ok && err == nil && strings.Contains(email, "@") {
			emails = append(emails, email)
		}
	}
	slices.Sort(emails)
	return emails, nil
}

// file returns the path of an address's grant. Addresses are escaped, so that no path leaves the directory.
func (s *Store) file(email string) string {
	return filepath.Join(s.dir, url.QueryEscape(email)+extension)
}

func seal(text []byte, to age.Recipient) ([]byte, error) {
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, to)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err = w.Close()
	return sealed.Bytes(), err
}

func open(sealed []byte, with age.Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(sealed), with)
	if mismatch, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, fmt.Errorf("%w: %w", ErrWrongKey, mismatch)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxFile))
}
