package discord

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom/safety"
)

// A verb is the action of a button.
type verb string

const (
	approve verb = "approve"
	reject  verb = "reject"
	show    verb = "show"
)

// The id of a button has at most 100 characters: the prefix, the verb, the request and the signature, separated by
// colons.
const (
	buttonPrefix  = "postroom"
	signatureSize = 16
	keyPurpose    = "the buttons of discord"
)

var base64url = base64.RawURLEncoding

// short encodes a request's id in 22 characters.
func short(approvalID string) (string, error) {
	id, err := uuid.Parse(approvalID)
	if err != nil {
		return "", fmt.Errorf("discord: request %q: %w", approvalID, err)
	}
	return base64url.EncodeToString(id[:]), nil
}

// signature signs a button of the current version of a request in a channel.
func signature(key []byte, v verb, request safety.Approval, channel string) string {
	h := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(h, "%q", []string{"button", string(v), request.ID, request.ActionID, request.Digest, channel})
	return base64url.EncodeToString(h.Sum(nil)[:signatureSize])
}

// bundle returns a request whose buttons are for others as well: if one of them changes, they are no longer genuine.
func bundle(request safety.Approval, others []safety.Waiting) safety.Approval {
	for i := range others {
		request.Digest += " " + others[i].Approval.ID + " " + others[i].Approval.Digest
	}
	return request
}

// customID returns the id of a button.
func (b *Bot) customID(ctx context.Context, v verb, request safety.Approval, channel string) (string, error) {
	key, err := b.cfg.Ledger.DeriveKey(ctx, keyPurpose)
	if err != nil {
		return "", err
	}
	id, err := short(request.ID)
	if err != nil {
		return "", err
	}
	return strings.Join([]string{buttonPrefix, string(v), id, signature(key, v, request, channel)}, ":"), nil
}

// A button is the parsed id of a pressed button. It must be verified before use.
type button struct {
	verb      verb
	approval  string
	signature string
}

// parseButton parses the id of a button. It returns false for ids of other bots and for invalid ids.
func parseButton(custom string) (button, bool) {
	parts := strings.Split(custom, ":")
	if len(parts) != 4 || parts[0] != buttonPrefix {
		return button{}, false
	}
	raw, err := base64url.Strict().DecodeString(parts[2])
	if err != nil {
		return button{}, false
	}
	id, err := uuid.FromBytes(raw)
	if err != nil {
		return button{}, false
	}
	switch v := verb(parts[1]); v {
	case approve, reject, show:
		return button{v, id.String(), parts[3]}, true
	}
	return button{}, false
}

// genuine reports whether the button was made for the current version of the request in the channel.
func (b *Bot) genuine(ctx context.Context, pressed button, request safety.Approval, channel string) (bool, error) {
	key, err := b.cfg.Ledger.DeriveKey(ctx, keyPurpose)
	if err != nil {
		return false, err
	}
	return hmac.Equal([]byte(pressed.signature), []byte(signature(key, pressed.verb, request, channel))), nil
}
