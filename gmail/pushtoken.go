package gmail

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	googleKeys = "https://www.googleapis.com/oauth2/v3/certs"

	keyTimeout = 10 * time.Second
	keyLife    = time.Hour   // keys are fetched again after it; Google publishes new ones days before their use
	keyPause   = time.Minute // between two fetches, whatever ids the tokens name
	clockSkew  = time.Minute // between Google's clock and ours
	maxKeys    = 1 << 20
)

// pushClaims are the claims of a token (OpenID Connect Core 1.0, section 2).
type pushClaims struct {
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	Email    string `json:"email"`
	Verified bool   `json:"email_verified"`
	Expires  int64  `json:"exp"`
	Issued   int64  `json:"iat"`
	Begins   int64  `json:"nbf"`
}

var (
	errNoKeys   = errors.New("the keys of the issuer cannot be had")
	errBadToken = errors.New("the token is no signed JSON Web Token")
)

// A keyCache keeps the public keys of an issuer by their ids.
type keyCache struct {
	url    string
	client *http.Client

	mu      sync.Mutex
	keys    map[string]*rsa.PublicKey
	fetched time.Time // last success
	tried   time.Time
	current *keyFetch // nil: none is under way
}

// A keyFetch is one fetch of the keys, shared by all waiting requests.
type keyFetch struct {
	done chan struct{}
	err  error // once done
}

// verify checks the signature and the time of a token (RFC 7519), which must be signed with RS256, and returns its
// claims.
func (c *keyCache) verify(ctx context.Context, token string) (claims pushClaims, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims, errBadToken
	}
	var header struct {
		Algorithm string          `json:"alg"`
		KeyID     string          `json:"kid"`
		Critical  json.RawMessage `json:"crit"`
	}
	if err := decodePart(parts[0], &header); err != nil {
		return claims, err
	}
	if header.Algorithm != "RS256" {
		return claims, fmt.Errorf("the token is signed with %.20q, not with RS256", header.Algorithm)
	}
	if header.Critical != nil { // RFC 7515, section 4.1.11: who does not know an extension refuses the token
		return claims, fmt.Errorf("the token needs extensions that are not known here: %.100s", header.Critical)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return claims, errBadToken
	}
	key, err := c.key(ctx, header.KeyID)
	if err != nil {
		return claims, err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) != nil {
		return claims, errors.New("the signature of the token is wrong")
	}
	if err := decodePart(parts[1], &claims); err != nil {
		return claims, err
	}
	now := time.Now()
	if now.After(time.Unix(claims.Expires, 0).Add(clockSkew)) ||
		now.Before(time.Unix(max(claims.Issued, claims.Begins), 0).Add(-clockSkew)) {
		return claims, errors.New("the token has expired, or is not valid yet")
	}
	return claims, nil
}

func decodePart(part string, into any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil || json.Unmarshal(text, into) != nil {
		return errBadToken
	}
	return nil
}

// key returns the key with the id. It has the keys fetched when they are old or do not have the id, and waits for
// that until ctx ends.
func (c *keyCache) key(ctx context.Context, id string) (*rsa.PublicKey, error) {
	key, fetch := c.look(ctx, id)
	if fetch != nil {
		select {
		case <-fetch.done:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", errNoKeys, context.Cause(ctx))
		}
		c.mu.Lock()
		key = c.keys[id] // an old one serves while no new ones can be had
		c.mu.Unlock()
	}
	switch {
	case key != nil:
		return key, nil
	case fetch != nil && fetch.err != nil:
		return nil, fmt.Errorf("%w: %w", errNoKeys, fetch.err)
	}
	return nil, fmt.Errorf("the token is signed with the key %.100q, which is none of the issuer's", id)
}

// look returns the key, or nil, and the fetch to wait for, if there is one that may change it. All callers share a
// fetch.
func (c *keyCache) look(ctx context.Context, id string) (*rsa.PublicKey, *keyFetch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := c.keys[id]
	if key != nil && time.Since(c.fetched) < keyLife {
		return key, nil
	}
	if c.current == nil && (c.keys == nil || time.Since(c.tried) >= keyPause) {
		c.tried = time.Now()
		c.current = &keyFetch{done: make(chan struct{})}
		go c.refresh(ctx, c.current)
	}
	return key, c.current
}

// refresh fetches the keys for all callers. It does not end with the request that asked first, whose sender may be
// anybody.
func (c *keyCache) refresh(ctx context.Context, f *keyFetch) {
	keys, err := c.fetch(context.WithoutCancel(ctx))
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.keys, c.fetched = keys, time.Now()
	}
	c.current, f.err = nil, err
	close(f.done)
}

func (c *keyCache) fetch(ctx context.Context) (map[string]*rsa.PublicKey, error) {
	ctx, cancel := context.WithTimeout(ctx, keyTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", c.url, response.Status)
	}
	var set struct {
		Keys []struct {
			ID       string `json:"kid"`
			Type     string `json:"kty"`
			Modulus  string `json:"n"`
			Exponent string `json:"e"`
		} `json:"keys"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxKeys)).Decode(&set); err != nil {
		return nil, fmt.Errorf("keys at %s: %w", c.url, err)
	}
	keys := make(map[string]*rsa.PublicKey)
	for _, k := range set.Keys {
		n, err := base64.RawURLEncoding.DecodeString(k.Modulus)
		e, err2 := base64.RawURLEncoding.DecodeString(k.Exponent)
		exponent := new(big.Int).SetBytes(e)
		if k.Type != "RSA" || err != nil || err2 != nil || !exponent.IsInt64() || exponent.BitLen() > 31 {
			continue
		}
		keys[k.ID] = &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("there are no RSA keys at %s", c.url)
	}
	return keys, nil
}
