package queueencrypt

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"

	"github.com/postroom-go/postroom/queue"
)

// A Key is one of the keys of a codec. Its printed or logged form is only its ID.
type Key struct {
	// ID identifies the key in stored data: 1 to 100 bytes, different from the ID of every other key.
	ID string
	// Secret is 32 random bytes.
	Secret []byte `json:"-"`
}

// Format implements fmt.Formatter.
func (k Key) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "Key(%s)", k.ID) }

// LogValue implements slog.LogValuer.
func (k Key) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(k)) }

type codec struct {
	first *sealer
	keys  map[string]*sealer
	order []*sealer
}

var (
	_ queue.Codec         = (*codec)(nil)
	_ queue.Fingerprinter = (*codec)(nil)
)

// A sealer holds the values derived from one key.
type sealer struct {
	id          string
	aead        cipher.AEAD
	fingerprint []byte
}

// NewCodec returns a codec that encrypts with the first key and decrypts with all. It is also a [queue.Fingerprinter].
// The error names the invalid key.
//
// To rotate keys, give all processes the new key as a second one, then make it the first. Keep an old key until no data
// that it encrypted is left, and as long as duplicates must be recognized of jobs with keys of scope forever. Keys that
// [queue.UniqueBy] names have other names with another first key: what was enqueued before is enqueued again. Do not
// encrypt more than 2³² values with one key.
func NewCodec(keys ...Key) (queue.Codec, error) {
	if len(keys) == 0 {
		return nil, errors.New("queueencrypt: a codec needs a key")
	}
	c := &codec{keys: make(map[string]*sealer, len(keys))}
	for _, key := range keys {
		s, err := newSealer(key)
		if err != nil {
			return nil, fmt.Errorf("queueencrypt: %v: %w", key, err)
		}
		if c.keys[key.ID] != nil {
			return nil, fmt.Errorf("queueencrypt: %v is given twice", key)
		}
		c.keys[key.ID] = s
		c.order = append(c.order, s)
	}
	c.first = c.order[0]
	return c, nil
}

const (
	secretSize  = 32
	maxKeyIDLen = 100
)

func newSealer(key Key) (*sealer, error) {
	switch {
	case key.ID == "" || len(key.ID) > maxKeyIDLen:
		return nil, fmt.Errorf("the ID has %d bytes; it must have 1 to %d", len(key.ID), maxKeyIDLen)
	case len(key.Secret) != secretSize:
		return nil, fmt.Errorf("the Secret has %d bytes; it must have %d", len(key.Secret), secretSize)
	}
	// One secret for each purpose.
	encryption, err := hkdf.Key(sha256.New, key.Secret, nil, "postroom queue encryption", secretSize)
	if err != nil {
		return nil, err
	}
	fingerprint, err := hkdf.Key(sha256.New, key.Secret, nil, "postroom queue fingerprint", secretSize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(encryption)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &sealer{id: key.ID, aead: aead, fingerprint: fingerprint}, err
}

// Format implements fmt.Formatter: it shows which key encrypts.
func (c *codec) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "Codec(%s)", c.first.id)
}

// LogValue implements slog.LogValuer.
func (c *codec) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// Name implements [queue.Codec].
func (c *codec) Name() string { return "aes-256-gcm" }

// Encode implements [queue.Codec]. The result is the length of the key's ID, the ID, and the output of the cipher,
// nonce first.
func (c *codec) Encode(plain []byte, place string) ([]byte, error) {
	out := append([]byte{byte(len(c.first.id))}, c.first.id...)
	//nolint:gosec // the cipher makes a random nonce itself
	return c.first.aead.Seal(out, nil, plain, []byte(place)), nil
}

// Decode implements [queue.Codec].
func (c *codec) Decode(data []byte, place string) ([]byte, error) {
	if len(data) == 0 || len(data) <= int(data[0]) {
		return nil, errors.New("what is stored is too short")
	}
	id, sealed := string(data[1:1+data[0]]), data[1+data[0]:]
	s := c.keys[id]
	if s == nil {
		return nil, fmt.Errorf("key %q: %w", id, queue.ErrNoCodec)
	}
	plain, err := s.aead.Open(nil, nil, sealed, []byte(place))
	if err != nil {
		return nil, fmt.Errorf("key %q: what is stored was changed, or belongs elsewhere: %w", id, err)
	}
	return plain, nil
}

// Fingerprints implements [queue.Fingerprinter].
func (c *codec) Fingerprints(jobType string, payload []byte) []string {
	all := make([]string, len(c.order))
	for i, s := range c.order {
		mac := hmac.New(sha256.New, s.fingerprint)
		mac.Write([]byte(jobType))
		mac.Write([]byte{0})
		mac.Write(payload)
		all[i] = hex.EncodeToString(mac.Sum(nil))
	}
	return all
}
