package gmailapi

import (
	"github.com/postroom-go/postroom/mime/authres"
)

// AuthServer is the server that Gmail's authentication results are from, for [authres.VerifiedFrom]. Mail that came
// into the mailbox by messages.insert or messages.import can say anything.
func AuthServer() authres.Server { return authres.Server{ID: "mx.google.com", Below: true} }
