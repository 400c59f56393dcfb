// Package keyring signs with a key of the configuration, or with one that the database keeps.
package keyring

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

// MinKey is the length of the shortest key: that of a SHA-256.
const MinKey = sha256.Size

// A Keyring signs with the configured key, or with the key that [Migrate] made and the database keeps.
type Keyring struct {
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

// New returns a keyring that signs with the configured key, or one of the database without any, and knows old keys.
func New(configured []byte, old ...[]byte) *Keyring {
	k := &Keyring{}
	if configured != nil {
		k.key = newKey(configured)
	}
	for _, secret := range old {
		k.old = append(k.old, newKey(secret))
	}
	return k
}

func (k *Keyring) current() *key {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.key
}

// Load reads the key of the database, unless a key is loaded. The lock is not held meanwhile: its holder would wait
// for the database, which may wait for one who waits for the lock.
func (k *Keyring) Load(ctx context.Context, q dbquery.Querier) error {
	if k.current() != nil {
		return nil
	}
	var text string
	err := dbquery.Get(ctx, q, &text, selectKey)
	if err == nil {
		var secret []byte
		if secret, err = hex.DecodeString(text); err == nil && len(secret) < MinKey {
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

// Sign signs the parts; Load must have succeeded.
func (k *Keyring) Sign(parts []string) string { return k.current().sign(parts) }

func (k *key) sign(parts []string) string { return k.id + ":" + k.mac(parts) }

// A Verdict is the result of verifying a signature.
type Verdict int

const (
	Wrong Verdict = iota // not over these parts
	Right
	ByAnotherKey // a key that is also not among the old ones
)

// Check reports whether a signature is over the parts.
func (k *Keyring) Check(signature string, parts []string) Verdict {
	id, _, ok := strings.Cut(signature, ":")
	if !ok {
		return Wrong
	}
	signer := k.current()
	if id != signer.id {
		i := slices.IndexFunc(k.old, func(old *key) bool { return old.id == id })
		if i < 0 {
			return ByAnotherKey
		}
		signer = k.old[i]
	}
	if hmac.Equal([]byte(signature), []byte(signer.sign(parts))) {
		return Right
	}
	return Wrong
}

// mac is an HMAC-SHA256 in hexadecimal. Quoted strings are unambiguous.
func (k *key) mac(parts []string) string {
	h := hmac.New(sha256.New, k.secret)
	_, _ = fmt.Fprintf(h, "%q", parts)
	return hex.EncodeToString(h.Sum(nil))
}

// Make makes the key that the database keeps, unless there is one.
func Make(ctx context.Context, db queue.DB) error {
	var text string
	err := dbquery.Get(ctx, db.Reader(), &text, selectKey)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	secret := make([]byte, MinKey)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, insertKey, hex.EncodeToString(secret))
		return err
	})
}

// Derive returns 32 bytes for a purpose, which reveal nothing about those of other purposes; Load must have succeeded.
func (k *Keyring) Derive(purpose string) []byte {
	h := hmac.New(sha256.New, k.current().secret)
	_, _ = fmt.Fprintf(h, "%q", []string{"a key for", purpose})
	return h.Sum(nil)
}

const (
	selectKey = `
SELECT secret
FROM safety_keys
WHERE id = 1`

	// The first key stays.
	insertKey = `
INSERT INTO safety_keys (id, secret)
VALUES (1, $1)
ON CONFLICT (id) DO NOTHING`
)
