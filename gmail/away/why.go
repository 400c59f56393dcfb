package away

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// gmailServer is the server whose Authentication-Results are trusted.
var gmailServer = authres.Server{ID: "mx.google.com", Below: true}

// why says why a message is not answered; empty if it is, but for the turn of its sender.
func (s *Service) why(ctx context.Context, a *Absence, msg *postroom.Message, addresses addressesOf) (string, error) {
	if why := s.outside(a, msg); why != "" {
		return why, nil
	}
	return s.whyNot(ctx, a, msg, addresses)
}

// outside says why a message is not one of the absence; empty if it is.
func (s *Service) outside(a *Absence, msg *postroom.Message) string {
	switch {
	case !a.On(s.cfg.Now()):
		return "the absence is not on"
	case msg.ReceivedAt.Before(a.From.Truncate(time.Second)), // Gmail's times are whole seconds
		msg.ReceivedAt.Before(a.Since.Truncate(time.Second)),
		!msg.ReceivedAt.Before(a.Until):
		return "it did not come in the absence"
	}
	return ""
}

// whyNot is why, whenever the message came.
func (s *Service) whyNot(ctx context.Context, a *Absence, msg *postroom.Message,
	addresses addressesOf) (string, error) {
	if why := machine(msg); why != "" {
		return why, nil
	}
	own, err := addresses(ctx, msg)
	if err != nil {
		return "", err
	}
	if why := own.stranger(msg); why != "" {
		return why, nil
	}
	if a.Audience != Known {
		return "", nil
	}
	known, err := s.cfg.Correspondents.WrittenTo(ctx, msg.AccountID, msg.From.Email)
	if err == nil && !known {
		return "its sender was never written to", nil
	}
	return "", err
}

// unanswered are the labels of mail that nobody answers without reading it.
var unanswered = map[string]string{
	postroom.LabelSpam: "it is spam", postroom.LabelTrash: "it is in the trash", postroom.LabelDraft: "it is a draft",
	postroom.LabelSent: "it was sent from here", "CATEGORY_PROMOTIONS": "Gmail files it under promotions",
	"CATEGORY_SOCIAL": "Gmail files it under social", "CATEGORY_FORUMS": "Gmail files it under forums",
	"CATEGORY_UPDATES": "Gmail files it under updates",
}

// machine says why a message is not one that a person has written to few, and that Gmail has verified; empty if it is.
func machine(msg *postroom.Message) string {
	for _, label := range msg.LabelIDs {
		if why, ok := unanswered[label]; ok {
			return why
		}
	}
	header := make(mime.Header, len(msg.Headers))
	for i, f := range msg.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
		if strings.HasPrefix(strings.ToLower(f.Name), "list-") {
			return "it came by a list (" + f.Name + ")"
		}
	}
	signs := header.Automatic()
	switch {
	case len(signs) > 0:
		return "a program sent it (" + signs[0].Field + ")"
	case header.FromDaemon():
		return "a mail server sent it"
	case len(msg.Header("From")) > 1:
		return "it names several senders"
	}
	from, _ := mime.ParseAddresses(header.Raw("From"))
	if len(from) != 1 || !strings.EqualFold(from[0].Email, msg.From.Email) {
		return "it names several senders"
	}
	if !authres.Read(header, gmailServer).Verifies(mime.Address{Name: msg.From.Name, Email: msg.From.Email}) {
		return "its sender is not verified"
	}
	sender := mailname.Mailbox(msg.From.Email)
	other := func(to postroom.Address) bool { return mailname.Mailbox(to.Email) != sender }
	if slices.ContainsFunc(msg.ReplyTo, other) {
		return "it asks for answers to somebody else"
	}
	return ""
}

// ownAddresses are the addresses of a mailbox, in the form for comparison.
type ownAddresses struct {
	list []string
	read time.Time
}

func (o *ownAddresses) has(a postroom.Address) bool {
	return slices.Contains(o.list, mailname.Mailbox(a.Email))
}

// stranger says why a message is not one of another person to the owner of the mailbox; empty if it is.
func (o *ownAddresses) stranger(msg *postroom.Message) string {
	switch {
	case o.has(msg.From):
		return "it is from the mailbox itself"
	case !slices.ContainsFunc(slices.Concat(msg.To, msg.Cc), o.has):
		return "it is addressed to others"
	}
	return ""
}

// addressesOf returns the addresses of the mailbox of a message.
type addressesOf func(ctx context.Context, msg *postroom.Message) (ownAddresses, error)

// ownKept is how long the addresses of a mailbox are not asked for again.
const ownKept = time.Hour

// ownOf returns the addresses of the mailbox of a message, those of its aliases included. While Gmail does not say
// them, they are those that it has said last.
func (s *Service) ownOf(ctx context.Context, msg *postroom.Message) (ownAddresses, error) {
	s.mu.Lock()
	own, known := s.own[msg.AccountID]
	s.mu.Unlock()
	if now := s.cfg.Now(); known && !now.Before(own.read) && now.Sub(own.read) < ownKept {
		return own, nil
	}
	read, err := s.readOwn(ctx, msg.AccountID)
	switch {
	case err == nil:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.own[msg.AccountID] = read
		return read, nil
	case known && ctx.Err() == nil:
		s.cfg.Logger.WarnContext(ctx, "away: the addresses of the mailbox cannot be read; those of before are used",
			"account", msg.AccountID, "message", msg.ProviderID, "since", own.read, "error", err)
		return own, nil
	}
	return own, err
}

// ownOrAlone is ownOf for a decision, which waits for no answer of Gmail, as the rules wait for it: without any, the
// mailbox has its own address alone. Before an answer is sent, the addresses are looked at again.
func (s *Service) ownOrAlone(ctx context.Context, msg *postroom.Message) (ownAddresses, error) {
	own, fault := s.ownOf(ctx, msg)
	if fault == nil || ctx.Err() != nil {
		return own, fault
	}
	account, err := s.cfg.Store.Account(ctx, msg.AccountID)
	if err != nil {
		return own, err
	}
	s.cfg.Logger.WarnContext(ctx, "away: the addresses of the mailbox cannot be read; mail to another than its own is not "+
		"answered", "account", msg.AccountID, "message", msg.ProviderID, "error", fault)
	return ownAddresses{list: []string{mailname.Mailbox(account.Email)}}, nil
}

// readOwn asks Gmail for the addresses of a mailbox.
func (s *Service) readOwn(ctx context.Context, accountID string) (own ownAddresses, err error) {
	account, err := s.cfg.Store.Account(ctx, accountID)
	if err != nil {
		return own, err
	}
	client, err := gmailapi.FindClient(ctx, s.cfg.Clients, accountID)
	if err != nil {
		return own, fmt.Errorf("away: client of account %s: %w", accountID, err)
	}
	addresses, err := outbox.OwnAddresses(ctx, s.cfg.Store, client, accountID)
	if err != nil {
		return own, err
	}
	own = ownAddresses{list: []string{mailname.Mailbox(account.Email)}, read: s.cfg.Now()}
	for _, a := range addresses {
		own.list = append(own.list, mailname.Mailbox(a.Email))
	}
	return own, nil
}
