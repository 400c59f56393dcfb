package app

import (
	"github.com/postroom-go/postroom/safety"
)

// A rulesRecord connects the store of rules with the ledger, which is made after them.
type rulesRecord struct{ *safety.Ledger }
