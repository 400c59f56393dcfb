package gmail

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
)

// refused is the error of a message that must not be sent.
func refused(actionID, format string, args ...any) error {
	return &gmailapi.Error{Op: "send the message of action " + actionID, Class: gmailapi.ClassRefused, Err: fmt.Errorf(format, args...)}
}

// guard returns an error of [gmailapi.ClassRefused] for a message that could go round in circles, or that goes where none should.
func (p *OutboundPayload) guard(o *postroom.Message, own []gmailapi.SendAs, cfg *OutboxConfig) error {
	if fault := p.fault(o, own, cfg); fault != nil {
		return refused(p.ActionID, "%w", fault)
	}
	return nil
}

// fault says why a message must not be sent. It asks nobody, and so it can be known when the action is decided; see [Refusals].
func (p *OutboundPayload) fault(o *postroom.Message, own []gmailapi.SendAs, cfg *OutboxConfig) error {
	recipients, err := p.recipients()
	switch {
	case err != nil:
		return fmt.Errorf("a recipient: %w", err)
	case len(recipients) == 0:
		return errors.New("it has no recipient")
	case len(recipients) > cfg.MaxRecipients:
		return fmt.Errorf("it has %d recipients; at most %d are allowed (%s)", len(recipients), cfg.MaxRecipients, cfg.name("MaxRecipients"))
	case p.MessageID != "" && !gmailapi.CanBeFound(p.MessageID): // what became of an attempt to send could never be known
		return fmt.Errorf("the Message-ID %.100q cannot be looked for at Gmail; leave it empty, or give one such as name@example.com", p.MessageID)
	case !ownAddress(own, p.From):
		return fmt.Errorf("the mailbox cannot send from %s", p.From)
	}
	for _, email := range recipients {
		if isOwn(own, email) {
			return fmt.Errorf("%s is the mailbox's own address: the message would come back", email)
		}
	}
	if p.MessageType == OutboundForward {
		return p.forwardFault(o, own, recipients)
	}
	return p.replyFault(o, own, recipients)
}

// replyFault: no reply to a message that no person wrote, nor to an address that nobody reads (RFC 3834, section 2).
func (p *OutboundPayload) replyFault(o *postroom.Message, own []gmailapi.SendAs, recipients []string) error {
	if signs := headerOfMessage(o).Automatic(); len(signs) > 0 {
		return fmt.Errorf("the original was sent by a program or to many (%s), and gets no automatic reply", signs[0])
	}
	switch {
	case isOwn(own, o.From.Email):
		return fmt.Errorf("the original is from %s, the mailbox's own address", o.From.Email)
	case o.HasLabel(postroom.LabelSpam):
		return errors.New("the original is spam: a reply would show that the address is read")
	case o.HasLabel(postroom.LabelDraft):
		return errors.New("the original is a draft")
	}
	for _, email := range recipients {
		if signs := (mime.Header{{Name: "From", Value: email}}).Automatic(); len(signs) > 0 {
			return fmt.Errorf("nobody reads mail to %s", email)
		}
	}
	return nil
}

// forwardFault: no forward of a notice about mail, which could be about an earlier forward, of what this mailbox has sent on
// already, nor back to the sender.
func (p *OutboundPayload) forwardFault(o *postroom.Message, own []gmailapi.SendAs, recipients []string) error {
	for _, sign := range headerOfMessage(o).Automatic() {
		if sign.Kind == mime.AutoReport || sign.Kind == mime.Challenge {
			return fmt.Errorf("the original is a notice about mail (%s)", sign)
		}
	}
	for _, loop := range o.Header("X-Loop") {
		if isOwn(own, strings.TrimSpace(loop)) {
			return errors.New("the original was sent by this mailbox and has come back")
		}
	}
	from := mailname.Mailbox(o.From.Email)
	if slices.ContainsFunc(recipients, func(email string) bool { return mailname.Mailbox(email) == from }) {
		return fmt.Errorf("%s is the sender of the original", from)
	}
	return nil
}

// headerOfMessage is the header of a stored message.
func headerOfMessage(m *postroom.Message) mime.Header {
	header := make(mime.Header, len(m.Headers))
	for i, f := range m.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	return header
}

// isOwn reports whether mail to the address comes into the mailbox: an address of its own, also with "+" and a tag, and for
// Gmail's own domains with or without dots.
func isOwn(own []gmailapi.SendAs, email string) bool {
	key := mailname.Mailbox(email)
	return slices.ContainsFunc(own, func(a gmailapi.SendAs) bool { return mailname.Mailbox(a.Email) == key })
}

// ownAddress reports whether the mailbox may send from the address.
func ownAddress(own []gmailapi.SendAs, from string) bool {
	list, err := readAddresses([]string{from})
	if err != nil || len(list) != 1 {
		return false
	}
	return slices.ContainsFunc(own, func(a gmailapi.SendAs) bool { return strings.EqualFold(a.Email, list[0].Email) })
}
