package rules

import (
	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/readmail"
	"github.com/postroom-go/postroom/mime"
)

// MessageOf returns a message that package mime has read, for mail that is in no store. Fields that only a provider knows are
// zero: ids, the account, labels, and the time of receipt.
func MessageOf(m *mime.Message) *postroom.Message { return readmail.Message(m) }
