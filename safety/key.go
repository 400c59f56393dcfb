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
	"hash"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// minKey is the length of the shortest key: that of a SHA-256.
const minKey = sha256.Size

// A keyring signs with the configured key, or with the key that [Migrate] made and the database keeps.
type keyring struct {
	mu  sync.Mutex
	key []byte
	id  string // identifies the key and reveals nothing about it

	signers sync.Pool

	old    []*keyring           // old keys, which verify and do not sign
	before atomic.Pointer[ends] // where the key began and, for an old key, where it ended
}

func newKeyring(configured []byte, old ...[]byte) *keyring {
	k := &keyring{}
	if configured != nil {
		k.set(configured)
	}
	for _, key := range old {
		k.old = append(k.old, newKeyring(key))
	}
	return k
}

func (k *keyring) set(key []byte) {
	k.key = key
	k.signers.New = func() any { return &signer{hash: hmac.New(sha256.New, key)} }
	k.id = k.mac([]string{"the name of the key"})[:8]
}

func (k *keyring) loaded() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.key != nil
}

func (k *keyring) setOnce(key []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key == nil {
		k.set(key)
	}
}

// load reads the key of the database, unless it is loaded, and where the key began to sign.
func (k *keyring) load(ctx context.Context, q dbquery.Querier) error {
	if k.loaded() { // not under a lock: its holder would wait for the database, which may wait for one who waits for the lock
		return k.loadEnds(ctx, q)
	}
	var secret string
	err := dbquery.Get(ctx, q, &secret, selectKey)
	if err == nil {
		var key []byte
		if key, err = hex.DecodeString(secret); err == nil && len(key) < minKey {
			err = errors.New("it is too short")
		}
		if err == nil {
			k.setOnce(key)
			return k.loadEnds(ctx, q)
		}
	}
	return fmt.Errorf("safety: read the key of the signatures: %w", err)
}

// sign signs the parts; load must have succeeded.
func (k *keyring) sign(parts []string) string { return k.id + ":" + k.mac(parts) }

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
	signer := k
	if id != k.id {
		i := slices.IndexFunc(k.old, func(old *keyring) bool { return old.id == id })
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
func (k *keyring) mac(parts []string) string {
	s, _ := k.signers.Get().(*signer)
	defer k.signers.Put(s)
	s.text = appendQuoted(s.text[:0], parts)
	s.hash.Reset()
	_, _ = s.hash.Write(s.text)
	return hex.EncodeToString(s.hash.Sum(nil))
}

// A signer is reused: one message needs a dozen signatures.
type signer struct {
	hash hash.Hash // an HMAC with the key
	text []byte
}

// appendQuoted appends the parts as fmt prints them with %q, without reflection.
func appendQuoted(text []byte, parts []string) []byte {
	text = append(text, '[')
	for i, part := range parts {
		if i > 0 {
			text = append(text, ' ')
		}
		text = appendQuote(text, part)
	}
	return append(text, ']')
}

// appendQuote is strconv.AppendQuote without the look-up of whether each character is printable.
func appendQuote(text []byte, s string) []byte {
	begin, plain := len(text), 0
	text = append(text, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c > '~':
			return strconv.AppendQuote(text[:begin], s)
		case c == '"', c == '\\':
			text = append(append(text, s[plain:i]...), '\\')
			plain = i
		}
	}
	return append(append(text, s[plain:]...), '"')
}

// makeKey makes the key that the database keeps, unless there is one.
func makeKey(ctx context.Context, db queue.DB) error {
	var secret string
	err := dbquery.Get(ctx, db.Reader(), &secret, selectKey)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	key := make([]byte, minKey)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, insertKey, hex.EncodeToString(key))
		return err
	})
}
