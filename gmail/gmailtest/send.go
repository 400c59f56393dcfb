package gmailtest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/queue"
)

// A letter is a message to send: the sender's copy, and its recipients.
type letter struct {
	arrival
	from       string
	recipients []string // in lower case, each once
}

// sendMessage puts the message into SENT, and into the inboxes of the recipients with an account here.
func (s *Server) sendMessage(ctx context.Context, r *request) (any, error) {
	var request gmail.Message
	if err := r.readJSON(&request); err != nil {
		return nil, err
	}
	a, err := s.readArrival(r, &request)
	if err != nil {
		return nil, err
	}
	from, err := r.account.sendsFrom(ctx, s.db.Reader())
	if err != nil {
		return nil, err
	}
	out, err := newLetter(r.account, from, a)
	if err != nil {
		return nil, err
	}
	var m messageRow
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		m, err = s.send(ctx, tx, r.account, out)
		return err
	})
	return m.ref(), err
}

// newLetter checks and completes a message. from are the permitted sender addresses.
func newLetter(owner *Account, addresses []string, a *arrival) (*letter, error) {
	if len(a.raw) > sentSize {
		return nil, wire.TooLarge()
	}
	header, _ := rawmail.Split(a.raw)
	l := &letter{arrival: *a}
	for _, field := range []string{"To", "Cc", "Bcc"} {
		for _, value := range header.All(field) {
			addresses, err := parseAddresses(value)
			if err != nil {
				return nil, wire.InvalidArgument("Invalid %s header", field)
			}
			for _, address := range addresses {
				l.recipients = append(l.recipients, strings.ToLower(address))
			}
		}
	}
	if len(l.recipients) == 0 {
		return nil, wire.InvalidArgument("Recipient address required")
	}
	slices.Sort(l.recipients)
	l.recipients = slices.Compact(l.recipients)
	var err error
	if l.raw, l.from, err = sender(owner, addresses, l.raw, header); err != nil {
		return nil, err
	}
	l.raw = completed(l.raw, header, l.received)
	l.labels = []string{labelSent}
	l.examine()
	return l, nil
}

// parseAddresses parses an address field (RFC 5322, section 3.4); it returns the members of groups.
func parseAddresses(value string) ([]string, error) {
	if strings.TrimSpace(value) == "" {
		return nil, nil
	}
	list, err := rawmail.Addresses(value)
	if err != nil && strings.HasSuffix(strings.TrimSpace(value), ":;") {
		return nil, nil // "undisclosed-recipients:;"
	}
	addresses := make([]string, len(list))
	for i, address := range list {
		addresses[i] = address.Address
	}
	return addresses, err
}

// sender ensures that the message is from its sender. As at Gmail, an address that the owner may not send from is
// replaced, and moved to the field X-Google-Original-From.
func sender(owner *Account, addresses []string, raw []byte, header rawmail.Header) (completed []byte,
	from string, err error) {
	value := header.Get("From")
	if value == "" {
		return append([]byte("From: "+owner.email+"\r\n"), raw...), owner.email, nil
	}
	list, err := rawmail.Addresses(value)
	if err != nil || len(list) == 0 { // "undisclosed:;" is nobody
		return nil, "", wire.InvalidArgument("Invalid From header")
	}
	if len(list) == 1 && slices.Contains(addresses, strings.ToLower(withoutTag(list[0].Address))) {
		return raw, list[0].Address, nil
	}
	fields := fmt.Sprintf("From: %s\r\nX-Google-Original-From: %s\r\n",
		(&mail.Address{Name: list[0].Name, Address: owner.email}).String(), value)
	return append([]byte(fields), withoutField(raw, "From")...), owner.email, nil
}

// isAddress reports whether mail to the address is delivered to this mailbox: its own address, with or without a "+"
// suffix.
func (a *Account) isAddress(address string) bool {
	return strings.EqualFold(withoutTag(address), a.email)
}

// withoutTag converts ann+news@example.com to ann@example.com.
func withoutTag(address string) string {
	local, domain, _ := strings.Cut(address, "@")
	local, _, _ = strings.Cut(local, "+")
	return local + "@" + domain
}

// withoutField removes the fields of a name from a header, with their continuation lines.
func withoutField(raw []byte, name string) []byte {
	kept := make([]byte, 0, len(raw))
	skipping := false
	for rest := raw; len(rest) > 0; {
		line := rest
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line = rest[:end+1]
		}
		if len(bytes.TrimSpace(line)) == 0 {
			return append(kept, rest...)
		}
		if line[0] != ' ' && line[0] != '\t' {
			field, _, _ := bytes.Cut(line, []byte(":"))
			skipping = strings.EqualFold(string(bytes.TrimSpace(field)), name)
		}
		if !skipping {
			kept = append(kept, line...)
		}
		rest = rest[len(line):]
	}
	return kept
}

// completed adds the required fields of a sent message before its own.
func completed(raw []byte, header rawmail.Header, now time.Time) []byte {
	var missing strings.Builder
	if header.Get("Date") == "" {
		fmt.Fprintf(&missing, "Date: %s\r\n", now.UTC().Format(time.RFC1123Z))
	}
	if header.Get("Message-ID") == "" {
		fmt.Fprintf(&missing, "Message-ID: <%s@mail.gmail.example>\r\n", messageID("sent", now.String(), string(raw)))
	}
	return append([]byte(missing.String()), raw...)
}

// Send delivers the letter. Mail from the sender to itself is one message.
func (s *Server) send(ctx context.Context, tx queue.Tx, owner *Account, out *letter) (messageRow, error) {
	for _, recipient := range out.recipients {
		if owner.isAddress(recipient) {
			out.labels = []string{labelSent, labelInbox, labelUnread}
		}
	}
	m, err := s.accept(ctx, tx, owner, &out.arrival)
	if err != nil {
		return m, err
	}
	reached := []int64{owner.id}
	for _, recipient := range out.recipients {
		row, err := loadAccount(ctx, tx, selectAccount, withoutTag(recipient))
		if errors.Is(err, sql.ErrNoRows) || slices.Contains(reached, row.ID) {
			continue // no account here, or already delivered
		}
		if err != nil {
			return m, err
		}
		reached = append(reached, row.ID)
		if _, err := s.deliver(ctx, tx, s.account(row), recipient, out.from, withoutField(out.raw, "Bcc"),
			out.received); err != nil {
			return m, fmt.Errorf("deliver to %s: %w", recipient, err)
		}
	}
	return m, nil
}

// deliver puts a message into the inbox of an account, or into its spam, with the fields that the last server adds.
func (s *Server) deliver(ctx context.Context, tx queue.Tx, to *Account, recipient, from string, raw []byte,
	at time.Time) (messageRow, error) {
	fields := fmt.Sprintf("Delivered-To: %s\r\nReturn-Path: <%s>\r\n", recipient, from)
	a := &arrival{account: to.id, raw: append([]byte(fields), raw...), received: at,
		labels: []string{labelInbox, labelUnread}}
	if isSpam(raw) {
		a.labels = []string{labelSpam, labelUnread}
	}
	a.examine()
	m, err := s.accept(ctx, tx, to, a)
	if err != nil || m.hidden() {
		return m, err // filters ignore spam
	}
	forward, err := s.applyFilters(ctx, tx, to, &m)
	if err != nil {
		return m, err
	}
	return m, s.forward(ctx, tx, to, forward, raw, at)
}

// forwardedFor marks a forwarded message. A message that the account has already forwarded is not forwarded again.
const forwardedFor = "X-Forwarded-For"

// forward delivers a message that a filter forwards to the addresses with an account here.
func (s *Server) forward(ctx context.Context, tx queue.Tx, owner *Account, addresses []string, raw []byte,
	at time.Time) error {
	header, _ := rawmail.Split(raw)
	if slices.ContainsFunc(header.All(forwardedFor), func(by string) bool { return strings.EqualFold(by, owner.email) }) {
		return nil
	}
	for _, address := range addresses {
		row, err := loadAccount(ctx, tx, selectAccount, strings.ToLower(withoutTag(address)))
		if errors.Is(err, sql.ErrNoRows) {
			continue // no account here
		}
		if err != nil {
			return err
		}
		forwarded := append([]byte(forwardedFor+": "+owner.email+"\r\n"), raw...)
		if _, err := s.deliver(ctx, tx, s.account(row), address, owner.email, forwarded, at); err != nil {
			return fmt.Errorf("forward to %s: %w", address, err)
		}
	}
	return nil
}

// Deliver delivers a message as if it came from the Internet: into the inbox, unread, at the current time. A message
// with the test text of spam filters (GTUBE) goes to spam. It returns the message.
func (a *Account) Deliver(ctx context.Context, raw []byte) (Message, error) {
	header, _ := rawmail.Split(raw)
	from := ""
	if list, err := rawmail.Addresses(header.Get("From")); err == nil && len(list) > 0 {
		from = list[0].Address
	}
	var m messageRow
	err := a.server.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		m, err = a.server.deliver(ctx, tx, a, a.email, from, raw, a.server.now())
		return err
	})
	if err != nil {
		return Message{}, fmt.Errorf("gmailtest: deliver: %w", err)
	}
	a.server.publisher.Wake()
	return a.Message(ctx, m.ID)
}
