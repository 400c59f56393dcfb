package tokenstore

import "github.com/postroom-go/postroom/internal/scrypt"

func init() { scrypt.WorkFactor = 10 } //nolint:gochecknoinits // a passphrase costs a millisecond in tests
