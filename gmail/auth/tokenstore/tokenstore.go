// Package tokenstore chooses the store of grants: the keychain of the operating system, or encrypted files.
package tokenstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/auth/agefile"
	"github.com/postroom-go/postroom/gmail/auth/keychain"
)

// A Kind is a kind of store.
type Kind string

// The kinds of stores.
const (
	// Auto uses the files if Config.Dir has any, otherwise the keychain if it works, otherwise the files.
	Auto Kind = ""
	// Keychain uses the keychain of the person who runs the program.
	Keychain Kind = "keychain"
	// File uses encrypted files in Config.Dir.
	File Kind = "file"
)

// keychainTimeout bounds the check of the keychain, which may wait for a person to unlock it.
const keychainTimeout = 30 * time.Second

// Config configures [Open].
type Config struct {
	// Kind is the kind of store. Default Auto. Programs that share grants, such as a service and a command line, should
	// set it: they may not reach the same keychain.
	Kind Kind
	// Service is the name in the keychain. Default [keychain.DefaultService].
	Service string
	// Dir is the directory of the files. Required for File; without it, Auto is Keychain.
	Dir string
	// Identity is the text of the age identity that encrypts the files. Default: one that is created and kept in Dir
	// under the passphrase.
	Identity string
	// Passphrase returns the passphrase of the files. It is called once, and only if files are used without an Identity.
	Passphrase func(ctx context.Context) (string, error)
	// Existing makes Open return [auth.ErrNoGrant] instead of creating files, for programs that only read. Default false.
	Existing bool
}

// A Store is an open store of grants.
type Store struct {
	auth.Tokens
	Kind Kind   // Keychain or File
	Why  string // the reason for the choice, for people
}

// Open opens the store of grants. Kind and Why of the Store give the choice and its reason.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	switch cfg.Kind {
	case Keychain:
		return cfg.openKeychain(ctx, "it is configured")
	case File:
		return cfg.openFiles(ctx, "they are configured")
	case Auto:
		return cfg.choose(ctx)
	}
	return nil, fmt.Errorf("tokenstore: Config.Kind is %q; it must be %q, %q or empty", cfg.Kind, Keychain, File)
}

func (c Config) choose(ctx context.Context) (*Store, error) {
	if c.Dir != "" {
		used, err := agefile.Used(c.Dir)
		if err != nil {
			return nil, fmt.Errorf("tokenstore: %w", err)
		}
		if used {
			return c.openFiles(ctx, "there are grants in "+c.Dir)
		}
	}
	store, fault := c.openKeychain(ctx, "it works")
	if fault == nil {
		return store, nil
	}
	if c.Dir == "" {
		return nil, fmt.Errorf("%w; to keep grants in encrypted files, give Config.Dir", fault)
	}
	return c.openFiles(ctx, fault.Error())
}

func (c Config) openKeychain(ctx context.Context, why string) (*Store, error) {
	ctx, cancel := context.WithTimeout(ctx, keychainTimeout)
	defer cancel()
	store := keychain.New(c.Service)
	if err := store.Check(ctx); err != nil {
		return nil, fmt.Errorf("tokenstore: the keychain cannot be used: %w", err)
	}
	return &Store{Tokens: store, Kind: Keychain, Why: why}, nil
}

func (c Config) openFiles(ctx context.Context, why string) (*Store, error) {
	if c.Existing {
		if used, err := agefile.Used(c.Dir); err != nil || !used {
			return nil, fmt.Errorf("tokenstore: %w", cmp.Or(err, auth.ErrNoGrant))
		}
	}
	files := agefile.Config{Dir: c.Dir, Identity: c.Identity}
	if c.Identity == "" {
		if c.Passphrase == nil {
			return nil,
				fmt.Errorf("tokenstore: grants are to be kept in encrypted files (%s): give Config.Identity or Config.Passphrase",
					why)
		}
		var err error
		if files.Passphrase, err = c.Passphrase(ctx); err != nil {
			return nil, fmt.Errorf("tokenstore: passphrase: %w", err)
		}
		if files.Passphrase == "" {
			return nil, errors.New("tokenstore: the passphrase is empty")
		}
	}
	store, err := agefile.Open(files)
	if err != nil {
		return nil, fmt.Errorf("tokenstore: %w", err)
	}
	return &Store{Tokens: store, Kind: File, Why: why}, nil
}
