package oauth

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"sync"
)

// A signer signs identity tokens (OpenID Connect Core 1.0, RFC 7519). Its key is made when it is first needed and
// lives as long as the server.
type signer struct {
	once sync.Once
	key  *rsa.PrivateKey
	err  error
}

func (s *signer) private() (*rsa.PrivateKey, error) {
	s.once.Do(func() { s.key, s.err = rsa.GenerateKey(rand.Reader, 2048) })
	return s.key, s.err
}

// sign returns the claims as a JSON Web Token, signed with RS256.
func (s *signer) sign(claims map[string]any) (string, error) {
	key, err := s.private()
	if err != nil {
		return "", err
	}
	header, err := segment(map[string]string{"alg": "RS256", "kid": keyID(key), "typ": "JWT"})
	if err != nil {
		return "", err
	}
	payload, err := segment(claims)
	if err != nil {
		return "", err
	}
	text := header + "." + payload
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

// keyID derives a key's name from the key: the next server at this address has another key, and a client that caches
// keys by name must not confuse them.
func keyID(key *rsa.PrivateKey) string {
	sum := sha256.Sum256(key.N.Bytes())
	return hex.EncodeToString(sum[:20])
}

func segment(v any) (string, error) {
	text, err := json.Marshal(v)
	return base64.RawURLEncoding.EncodeToString(text), err
}

// A keySet is the public key in the form of RFC 7517.
type keySet struct {
	Keys []map[string]string `json:"keys"`
}

func (s *signer) keySet() (keySet, error) {
	key, err := s.private()
	if err != nil {
		return keySet{}, err
	}
	return keySet{Keys: []map[string]string{{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": keyID(key),
		"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
	}}}, nil
}
