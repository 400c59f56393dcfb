package archive

import (
	"bytes"
	"context"
	"errors"
	"time"

	"filippo.io/age"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
)

// ReadObject returns the content of an object.
func ReadObject(ctx context.Context, a *Archive, key string) ([]byte, error) {
	return a.read(ctx, key, maxManifest)
}

// Seal makes an object of content.
func Seal(a *Archive, content []byte) ([]byte, error) { return a.seal(content) }

// SealBefore makes an object as versions before did, without a hash of its header.
func SealBefore(key *age.X25519Identity, content []byte) ([]byte, error) {
	packed, err := (&Archive{}).seal(content)
	var out bytes.Buffer
	to, fault := age.Encrypt(&out, key.Recipient())
	if err = errors.Join(err, fault); err == nil {
		_, err = to.Write(packed)
		err = errors.Join(err, to.Close())
	}
	return out.Bytes(), err
}

// SetReceived changes when a message was received, in the index alone.
func SetReceived(ctx context.Context, a *Archive, accountID, messageID string, at time.Time) error {
	return a.exec(ctx, "UPDATE archived_messages SET received_at = $1 WHERE account_id = $2 AND message_id = $3",
		dbtime.Of(at), accountID, messageID)
}

// Undelete undoes the deletion of a message.
func Undelete(ctx context.Context, a *Archive, accountID, messageID string) error {
	return a.undelete(ctx, postroom.Action{AccountID: accountID,
		UndoHint: &postroom.UndoHint{Undo: postroom.Parameters{paramMessage: messageID}}})
}

// DecodeManifest reads a manifest, and returns the messages in it.
func DecodeManifest(accountID string, number int64, content []byte) (mails []Entry, err error) {
	m, err := decodeManifest(accountID, number, content)
	if err != nil {
		return nil, err
	}
	for i := range m.lines {
		if e := m.lines[i].Mail; e != nil {
			mails = append(mails, *e)
		}
	}
	return mails, nil
}

// ParseKey reports whether a name is one of this package.
func ParseKey(accountID, key string) bool { _, ok := parseKey(accountID, key); return ok }

// Unseal reads an object.
func Unseal(a *Archive, object []byte, most int64) ([]byte, error) {
	return a.unseal(bytes.NewReader(object), most)
}
