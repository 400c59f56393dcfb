package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// sealedStart is how encrypted objects begin.
const sealedStart = "age-encryption.org/"

// sumStanza is the type of the last stanza in the header of an object, whose body is a hash of those before it. age
// authenticates a header only to who has the key: the hash tells one that was damaged from one of another key. Programs
// ignore stanzas whose type they do not know.
const sumStanza = "postroom-sum"

// summed is a recipient whose stanzas have their hash beside them.
type summed struct{ age.Recipient }

// Wrap implements [age.Recipient].
func (s summed) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	stanzas, err := s.Recipient.Wrap(fileKey)
	if err != nil {
		return nil, err
	}
	return append(stanzas, &age.Stanza{Type: sumStanza, Body: sumStanzas(stanzas)}), nil
}

func sumStanzas(stanzas []*age.Stanza) []byte {
	hash := sha256.New()
	for _, s := range stanzas {
		fmt.Fprintf(hash, "%s %s %x\n", s.Type, strings.Join(s.Args, " "), s.Body)
	}
	return hash.Sum(nil)[:16]
}

// intact is an identity that opens nothing, and looks at a header that no key opens.
type intact struct{ damaged bool }

// Unwrap implements [age.Identity].
func (i *intact) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	last := len(stanzas) - 1
	// Archives from before have the stanza of the key alone.
	i.damaged = last != 0 && (last < 0 || stanzas[last].Type != sumStanza ||
		!bytes.Equal(stanzas[last].Body, sumStanzas(stanzas[:last]))) || last == 0 && stanzas[0].Type != "X25519"
	return nil, age.ErrIncorrectIdentity
}

// decrypt returns what an object contains, encrypted or not. A header that was damaged is no key that is missing.
func (a *Archive) decrypt(object *bufio.Reader) (io.Reader, error) {
	if text, _ := object.Peek(len(sealedStart)); string(text) != sealedStart {
		return object, nil
	}
	header := &intact{}
	keys := make([]age.Identity, 0, len(a.cfg.Keys)+1)
	for _, key := range a.cfg.Keys {
		keys = append(keys, key)
	}
	plain, err := age.Decrypt(object, append(keys, header)...)
	if no := (*age.NoIdentityMatchError)(nil); errors.As(err, &no) && !header.damaged {
		return nil, ErrNoKey
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return plain, nil
}
