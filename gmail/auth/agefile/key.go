package agefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"filippo.io/age"

	"github.com/postroom-go/postroom/internal/scrypt"
)

// key returns the identity that encrypts the directory.
func (c Config) key() (age.Identity, error) {
	file := filepath.Join(c.Dir, identityFile)
	if c.Identity != "" {
		if _, err := os.Stat(file); err == nil {
			return nil, fmt.Errorf("%s was made with a passphrase: give Config.Passphrase, or another directory", identityFile)
		}
		return parseIdentity(c.Identity)
	}
	sealed, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = c.makeKey(file); err == nil {
			sealed, err = os.ReadFile(file) // this process's, or that of a faster one
		}
	}
	if err != nil {
		return nil, err
	}
	passphrase, err := age.NewScryptIdentity(c.Passphrase)
	if err != nil {
		return nil, err
	}
	text, err := open(sealed, passphrase)
	// Trying a passphrase takes 256 MB. A program that lets its heap grow in proportion would let it grow by that.
	debug.FreeOSMemory()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", identityFile, err)
	}
	return parseIdentity(string(text))
}

// makeKey creates the identity of a new directory. An existing file is left unchanged.
func (c Config) makeKey(file string) error {
	switch used, err := Used(c.Dir); {
	case err != nil:
		return err
	case used:
		return fmt.Errorf("there are grants and no %s: give the key that they were made with as Config.Identity",
			identityFile)
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	recipient, err := age.NewScryptRecipient(c.Passphrase)
	if err != nil {
		return err
	}
	recipient.SetWorkFactor(scrypt.WorkFactor)
	sealed, err := seal([]byte(identity.String()+"\n"), recipient)
	if err != nil {
		return err
	}
	return create(file, sealed)
}

// parseIdentity parses an identity in the form of age-keygen, with comments.
func parseIdentity(text string) (age.Identity, error) {
	identities, err := age.ParseIdentities(strings.NewReader(text))
	if err != nil {
		return nil, errors.New("the identity is none of age's; make one with age-keygen") // the cause may quote the key
	}
	if len(identities) != 1 {
		return nil, fmt.Errorf("the identity has %d keys; give one", len(identities))
	}
	return identities[0], nil
}
