package gmailapi

import "github.com/postroom-go/postroom/mime"

// AuthServer is the server that Gmail's authentication results are from, for [mime.Message.VerifiedFrom]. Mail that came into the
// mailbox by messages.insert or messages.import can say anything.
func AuthServer() mime.AuthServer { return mime.AuthServer{ID: "mx.google.com", Below: true} }
