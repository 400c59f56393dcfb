package unsubscribe

import (
	"errors"
	"net/url"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// What keeps a message from being unsubscribed from by one click.
var (
	// ErrNotOffered reports a message without the fields of RFC 8058.
	ErrNotOffered = errors.New("the message offers no unsubscription by one click")
	// ErrNotSigned reports an offer that no verified DKIM signature of the sender covers. Anyone could have written it.
	ErrNotSigned = errors.New("no verified DKIM signature of the sender covers the offer to unsubscribe; " +
		"anyone could have written it")
	// ErrAddress reports an address with a user or a fragment, which none of a list has.
	ErrAddress = errors.New("the address to unsubscribe at is none that a list would have")
)

// An Offer holds the ways to leave a list that a message names.
type Offer struct {
	// ListID identifies the list (RFC 2919); empty if the message does not say.
	ListID string
	// OneClick is the address of the one click. It is nil if there is none that may be asked, and Refused says why then:
	// [ErrNotOffered], [ErrNotSigned] or [ErrAddress].
	OneClick *url.URL
	Refused  error
	// SignedBy is the domain whose signature covers the offer.
	SignedBy string
	// Web and Mail are for a person to open or to write to, in the sender's order. Nobody has verified them.
	Web  []*url.URL
	Mail []mime.Mailto
}

// Read returns what a message offers, by the results of the server that received it.
func Read(msg *postroom.Message, server authres.Server) Offer {
	header := make(mime.Header, len(msg.Headers))
	for i, f := range msg.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	list := header.List()
	offer := Offer{ListID: list.ID, Web: list.Unsubscribe.Web, Mail: list.Unsubscribe.Mail}
	to := list.Unsubscribe.OneClick
	if to == nil {
		offer.Refused = ErrNotOffered
		return offer
	}
	domain, ok := authres.Read(header, server).Covers(header, "List-Unsubscribe", "List-Unsubscribe-Post")
	switch {
	case !ok || authres.OrganizationalDomain(domain) != authres.OrganizationalDomain(msg.From.Domain()):
		offer.Refused = ErrNotSigned
	case to.User != nil || to.Hostname() == "" || to.Fragment != "":
		offer.Refused = ErrAddress
	default:
		offer.OneClick, offer.SignedBy = to, domain
	}
	return offer
}
