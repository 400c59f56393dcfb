// Package uuid7 makes the ids of rows.
package uuid7

import (
	"fmt"

	"github.com/google/uuid"
)

// New returns a new UUIDv7 (RFC 9562, section 5.7), so that ids sort by age. It fails if the system has no random
// numbers.
func New() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return id.String(), nil
}
