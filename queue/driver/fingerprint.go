package driver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// An Encoded value is the stored form of a value that a codec has encoded: one line of JSON that begins with its first
// member.
type Encoded struct {
	Codec       string `json:"$codec"`
	Fingerprint string `json:"fingerprint,omitempty"` // of a payload with a key
	Data        []byte `json:"data"`
}

// IsEncoded reports whether a stored value is an [Encoded] one.
func IsEncoded(stored []byte) bool { return bytes.HasPrefix(stored, []byte(`{"$codec":`)) }

// Fingerprint distinguishes jobs that share a key by their type and payload. The fingerprint of an encoded payload is
// stored in it.
func Fingerprint(jobType string, payload []byte) string {
	if IsEncoded(payload) {
		var e Encoded
		if json.Unmarshal(payload, &e) == nil && e.Fingerprint != "" {
			return e.Fingerprint
		}
	}
	h := sha256.New()
	h.Write([]byte(jobType))
	h.Write([]byte{0})
	h.Write(payload)
	return hex.EncodeToString(h.Sum(nil))
}
