// Package origin reads from the header of a message who has sent it, as the server that received it has found out.
package origin

import (
	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// gmailServer is the server whose Authentication-Results are trusted.
var gmailServer = authres.Server{ID: "mx.google.com", Below: true}

// The names of origins that are no domain.
const (
	// List names the mail of mailing lists whose domain vouches for it by DMARC.
	List = "list"
	// Unverified names all mail whose sender the server has not verified: anyone can write any address.
	Unverified = "unverified"
)

// An Origin is what the header of a message says about its sender.
type Origin struct {
	// Name is [List], [Unverified], or the organizational domain of the sender.
	Name string
	// Sender is the organizational domain of the sender, also of a list, or [Unverified].
	Sender string
	// Mailbox is the address of the sender in the form for comparison, if Sender stands for many people: the domain gives
	// mailboxes to everybody, or nothing is verified. Empty otherwise.
	Mailbox string
	// Notice reports that a program has sent the message to its user: the sender is verified, there are signs that no
	// person wrote it, and no list sends it. The notices of banks, of accounts and about security are such.
	Notice bool
}

// Of returns the origin of a message. A nil message is Unverified.
func Of(msg *postroom.Message) Origin {
	if msg == nil {
		return Origin{Name: Unverified, Sender: Unverified}
	}
	header := make(mime.Header, len(msg.Headers))
	for i, f := range msg.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	list := header.List().ID != "" || len(msg.Header("List-Unsubscribe")) > 0
	found := authres.Read(header, gmailServer)
	if !found.Verifies(mime.Address{Name: msg.From.Name, Email: msg.From.Email}) {
		return Origin{Name: Unverified, Sender: Unverified, Mailbox: mailname.Mailbox(msg.From.Email)}
	}
	sender := authres.OrganizationalDomain(msg.From.Domain())
	o := Origin{Name: sender, Sender: sender, Notice: !list && len(header.Automatic()) > 0}
	if mailname.IsProvider(sender) {
		o.Mailbox = mailname.Mailbox(msg.From.Email)
	}
	if list && found.Result("dmarc") == "pass" {
		o.Name = List
	}
	return o
}
