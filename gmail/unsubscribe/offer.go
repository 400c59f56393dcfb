package unsubscribe

import (
	"errors"
	"net/url"
	"slices"

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
	// ErrNoMail reports a message that names no mail to leave its list by, or one to several addresses or with a long
	// text.
	ErrNoMail = errors.New("the message names no short mail to one address that leaves its list")
)

// The mail of a list has a word or a token. Longer texts are for a person to send.
const (
	maxSubject = 200
	maxText    = 500
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
	// Write is the mail that leaves the list. It is nil if there is none that may be sent, and NoMail says why then:
	// [ErrNoMail] or [ErrNotSigned].
	Write  *mime.Mailto
	NoMail error
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
	found, from := authres.Read(header, server), authres.OrganizationalDomain(msg.From.Domain())
	signed := func(fields ...string) (string, bool) {
		domain, ok := found.Covers(header, fields...)
		return domain, ok && from != "" && authres.OrganizationalDomain(domain) == from
	}
	offer.readOneClick(list.Unsubscribe.OneClick, signed)
	offer.readMail(signed)
	return offer
}

// readOneClick decides whether the address of the one click may be asked.
func (o *Offer) readOneClick(to *url.URL, signed func(fields ...string) (string, bool)) {
	if to == nil {
		o.Refused = ErrNotOffered
		return
	}
	domain, ok := signed("List-Unsubscribe", "List-Unsubscribe-Post")
	switch {
	case !ok:
		o.Refused = ErrNotSigned
	case to.User != nil || to.Hostname() == "" || to.Fragment != "":
		o.Refused = ErrAddress
	default:
		o.OneClick, o.SignedBy = to, domain
	}
}

// readMail chooses the first mail that may be sent. What a stranger has written would be sent in the person's name, so
// it is short, and the sender's own.
func (o *Offer) readMail(signed func(fields ...string) (string, bool)) {
	o.NoMail = ErrNoMail
	i := slices.IndexFunc(o.Mail, func(m mime.Mailto) bool {
		return len(m.To) == 1 && len(m.Subject) <= maxSubject && len(m.Body) <= maxText
	})
	if i < 0 {
		return
	}
	domain, ok := signed("List-Unsubscribe")
	if !ok {
		o.NoMail = ErrNotSigned
		return
	}
	o.Write, o.NoMail, o.SignedBy = &o.Mail[i], nil, domain
}
