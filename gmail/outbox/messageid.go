package outbox

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/google/uuid"
)

// notAnID reports whether a message of ours cannot name the id of another: mail has ids that are none.
func notAnID(id string) bool {
	return id == "" || len(id) > 900 || strings.ContainsAny(id, "<>") ||
		strings.ContainsFunc(id, func(r rune) bool {
			return r > unicode.MaxASCII || unicode.IsSpace(r) || unicode.IsControl(r)
		})
}

// newMessageID chooses a Message-ID at the domain of an address.
func newMessageID(from string) (string, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return "", fmt.Errorf("outbox: make a Message-ID: %w", err)
	}
	addresses, err := readAddresses([]string{from})
	if err != nil {
		return "", err
	}
	email := addresses[0].Email
	domain := email[strings.LastIndexByte(email, '@')+1:]
	if strings.ContainsFunc(domain, func(r rune) bool { return r > unicode.MaxASCII }) {
		domain = "postroom.invalid"
	}
	return id.String() + "@" + strings.ToLower(domain), nil
}
