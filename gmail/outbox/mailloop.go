package outbox

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
	return &gmailapi.Error{Op: "send the message of action " + actionID, Class: gmailapi.ClassRefused,
		Err: fmt.Errorf(format, args...)}
}

// guard returns an error of [gmailapi.ClassRefused] for a message that could go round in circles, or that goes where
// none should.
func (p *Payload) guard(o *postroom.Message, own []gmailapi.SendAs, cfg *Config) error {
	if fault := p.fault(o, own, cfg); fault != nil {
		return refused(p.ActionID, "%w", fault)
	}
	return nil
}

// fault says why a message must not be sent. It asks nobody, and so it can be known when the action is decided; see
// [Refusals].
func (p *Payload) fault(o *postroom.Message, own []gmailapi.SendAs, cfg *Config) error {
	recipients, err := p.recipients()
	switch {
	case err != nil:
		return fmt.Errorf("a recipient: %w", err)
	case len(recipients) == 0:
		return errors.New("it has no recipient")
	case len(recipients) > cfg.MaxRecipients:
		return fmt.Errorf("it has %d recipients; at most %d are allowed (%s)", len(recipients), cfg.MaxRecipients,
			cfg.name("MaxRecipients"))
	case p.MessageID != "" && !gmailapi.CanBeFound(p.MessageID): // what became of an attempt to send could never be known
		return fmt.Errorf(
			"the Message-ID %.100q cannot be looked for at Gmail; leave it empty, or give one such as name@example.com",
			p.MessageID)
	case !ownAddress(own, p.From):
		return fmt.Errorf("the mailbox cannot send from %s", p.From)
	}
	for _, email := range recipients {
		if isOwn(own, email) {
			return fmt.Errorf("%s is the mailbox's own address: the message would come back", email)
		}
	}
	if p.MessageType == Forward {
		return p.forwardFault(o, own, recipients)
	}
	return p.replyFault(o, own, recipients)
}

// replyFault: no reply to a message that no person wrote, nor to an address that nobody reads (RFC 3834, section 2).
func (p *Payload) replyFault(o *postroom.Message, own []gmailapi.SendAs, recipients []string) error {
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

// forwardFault: no forward of a notice about mail, which could be about an earlier forward, of what this mailbox has
// sent on already, nor back to the sender.
func (p *Payload) forwardFault(o *postroom.Message, own []gmailapi.SendAs, recipients []string) error {
	for _, sign := range headerOfMessage(o).Automatic() {
		if sign.Kind == mime.AutoReport || sign.Kind == mime.Challenge {
			return fmt.Errorf("the original is a notice about mail (%s)", sign)
		}
	}
	if autoSubmitted(o) != "" && isOwn(own, o.From.Email) {
		return errors.New("a program of this mailbox has sent the original")
	}
	hops := hopsOf(o)
	for _, hop := range hops {
		if isOwn(own, hop) {
			return errors.New("the original was sent by this mailbox and has come back")
		}
		if contains(recipients, hop) {
			return fmt.Errorf("%s has sent the original on: the message would come back to it", hop)
		}
	}
	if len(hops) >= maxHops {
		return fmt.Errorf("%d mailboxes have sent the original on; at most %d may", len(hops), maxHops)
	}
	from := mailname.Mailbox(o.From.Email)
	if contains(recipients, from) {
		return fmt.Errorf("%s is the sender of the original", from)
	}
	return nil
}

// maxHops is the number of mailboxes that a message may be sent on by. It bounds a circle with a mailbox in it whose
// program forgets X-Loop.
const maxHops = 5

// hopsOf returns the mailboxes that have sent a message on, as X-Loop names them.
func hopsOf(o *postroom.Message) (hops []string) {
	for _, value := range o.Header("X-Loop") {
		list, err := readAddresses([]string{value})
		if err == nil && len(list) == 1 && !contains(hops, list[0].Email) && len(hops) < maxHops {
			hops = append(hops, list[0].Email)
		}
	}
	return hops
}

// autoSubmitted returns the keyword of Auto-Submitted (RFC 3834, section 5) of a message that a program has sent.
func autoSubmitted(o *postroom.Message) string {
	for _, value := range o.Header("Auto-Submitted") {
		words := strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return strings.ContainsRune(" \t;(", r) })
		if len(words) > 0 && (words[0] == "auto-generated" || words[0] == "auto-replied") {
			return words[0]
		}
	}
	return ""
}

// contains reports whether one of the addresses is of the same mailbox.
func contains(addresses []string, email string) bool {
	key := mailname.Mailbox(email)
	return slices.ContainsFunc(addresses, func(other string) bool { return mailname.Mailbox(other) == key })
}

// headerOfMessage is the header of a stored message.
func headerOfMessage(m *postroom.Message) mime.Header {
	header := make(mime.Header, len(m.Headers))
	for i, f := range m.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	return header
}

// isOwn reports whether mail to the address comes into the mailbox: an address of its own, also with "+" and a tag,
// and for Gmail's own domains with or without dots.
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
