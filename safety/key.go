package safety

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// minKey is the length of the shortest key: that of a SHA-256.
const minKey = sha256.Size

// A keyring signs with the configured key, or with the key that [Migrate] made and the database keeps.
type keyring struct {
	mu  sync.Mutex
	key *key
	old []*key // verify and do not sign
}

// A key is an HMAC key. Its id identifies it and reveals nothing about it.
type key struct {
	id     string
	secret []byte
}

func newKey(secret []byte) *key {
	k := &key{secret: secret}
	k.id = k.mac([]string{"the name of the key"})[:8]
	return k
}

func newKeyring(configured []byte, old ...[]byte) *keyring {
	k := &keyring{}
	if configured != nil {
		k.key = newKey(configured)
	}
	for _, secret := range old {
		k.old = append(k.old, newKey(secret))
	}
	return k
}

func (k *keyring) current() *key {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.key
}

// load reads the key of the database, unless a key is loaded. The lock is not held meanwhile: its holder would wait for the
// database, which may wait for one who waits for the lock.
func (k *keyring) load(ctx context.Context, q dbquery.Querier) error {
	if k.current() != nil {
		return nil
	}
	var text string
	err := dbquery.Get(ctx, q, &text, selectKey)
	if err == nil {
		var secret []byte
		if secret, err = hex.DecodeString(text); err == nil && len(secret) < minKey {
			err = errors.New("it is too short")
		}
		if err == nil {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.key = newKey(secret)
			return nil
		}
	}
	return fmt.Errorf("safety: read the key of the signatures: %w", err)
}

// sign signs the parts; load must have succeeded.
func (k *keyring) sign(parts []string) string { return k.current().sign(parts) }

func (k *key) sign(parts []string) string { return k.id + ":" + k.mac(parts) }

// A signed is the result of verifying a signature.
type signed int

const (
	signedWrong signed = iota // not over these parts
	signedRight
	signedByAnotherKey // a key that is also not among the old ones
)

func (k *keyring) check(signature string, parts []string) signed {
	id, _, ok := strings.Cut(signature, ":")
	if !ok {
		return signedWrong
	}
	signer := k.current()
	if id != signer.id {
		i := slices.IndexFunc(k.old, func(old *key) bool { return old.id == id })
		if i < 0 {
			return signedByAnotherKey
		}
		signer = k.old[i]
	}
	if hmac.Equal([]byte(signature), []byte(signer.sign(parts))) {
		return signedRight
	}
	return signedWrong
}

// mac is an HMAC-SHA256 in hexadecimal. Quoted strings are unambiguous.
func (k *key) mac(parts []string) string {
	h := hmac.New(sha256.New, k.secret)
	_, _ = fmt.Fprintf(h, "%q", parts)
	return hex.EncodeToString(h.Sum(nil))
}

// makeKey makes the key that the database keeps, unless there is one.
func makeKey(ctx context.Context, db queue.DB) error {
	var text string
	err := dbquery.Get(ctx, db.Reader(), &text, selectKey)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	secret := make([]byte, minKey)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, insertKey, hex.EncodeToString(secret))
		return err
	})
}

// DeriveKey returns a key of 32 bytes for a purpose, such as signing the buttons of a message. It is derived from [Config].Key,
// or from the key that the database keeps. A key reveals nothing about the keys of other purposes.
func (l *Ledger) DeriveKey(ctx context.Context, purpose string) ([]byte, error) {
	if purpose == "" {
		return nil, errors.New("safety: DeriveKey: the purpose is empty")
	}
	if err := l.keys.load(ctx, l.cfg.DB.Reader()); err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, l.keys.current().secret)
	_, _ = fmt.Fprintf(h, "%q", []string{"a key for", purpose})
	return h.Sum(nil), nil
}
