package gmailtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// An arrival is a message about to enter the mailbox, with all that can be learned from it outside a transaction.
type arrival struct {
	id         string
	threadID   string // empty: found by its references
	labels     []string
	received   time.Time
	raw        []byte
	rfc822ID   string
	references []string // its own id included
	snippet    string
}

// examine reads what the mailbox wants to know of a message.
func (a *arrival) examine() {
	message := rawmail.Parse(a.raw)
	a.snippet = rawmail.Snippet(message)
	references := slices.Concat(
		rawmail.MessageIDs(message.Header.Get("References")),
		rawmail.MessageIDs(message.Header.Get("In-Reply-To")))
	references = references[max(0, len(references)-maxReferences):]
	if ids := rawmail.MessageIDs(message.Header.Get("Message-ID")); len(ids) > 0 {
		a.rfc822ID = ids[0]
		references = append(references, a.rfc822ID)
	}
	a.references = references
}

// insert takes the message in.
func (a *arrival) insert(ctx context.Context, tx queue.Tx) (messageRow, error) {
	m := messageRow{ID: a.id, ThreadID: a.threadID, Labels: slices.Compact(slices.Sorted(slices.Values(a.labels)))}
	if m.ThreadID == "" {
		var err error
		if m.ThreadID, err = findThread(ctx, tx, a.id, a.references); err != nil {
			return m, err
		}
	}
	// record, below, gives it its history id.
	_, err := tx.ExecContext(ctx, insertMessage, a.id, m.ThreadID, a.rfc822ID, a.received.UnixMilli(), 0, len(a.raw), a.snippet)
	if err != nil {
		return m, fmt.Errorf("insert message %s: %w", a.id, err)
	}
	if _, err := tx.ExecContext(ctx, insertRaw, a.id, a.raw); err != nil {
		return m, fmt.Errorf("insert message %s: %w", a.id, err)
	}
	for _, label := range m.Labels {
		if _, err := tx.ExecContext(ctx, insertMessageLabel, a.id, label); err != nil {
			return m, fmt.Errorf("insert message %s: label %s: %w", a.id, label, err)
		}
	}
	if err := rememberReferences(ctx, tx, m.ThreadID, a.references); err != nil {
		return m, err
	}
	return m, m.record(ctx, tx, kindAdded, nil, nil)
}

// messageID makes the id of a message of what identifies it: 16 hexadecimal digits, as Gmail's are.
func messageID(identity ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(identity, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// importMessage, unlike insertMessage, takes the date of the message for that of its arrival, unless asked otherwise.
func (s *Server) importMessage(ctx context.Context, r *http.Request) (any, error) {
	return s.receive(ctx, r, "dateHeader")
}

func (s *Server) insertMessage(ctx context.Context, r *http.Request) (any, error) {
	return s.receive(ctx, r, "receivedTime")
}

func (s *Server) receive(ctx context.Context, r *http.Request, dateSource string) (any, error) {
	a, err := s.readArrival(r)
	if err != nil {
		return nil, err
	}
	if source := r.URL.Query().Get("internalDateSource"); source != "" {
		dateSource = source
	}
	if dateSource == "dateHeader" {
		header, _ := rawmail.Split(a.raw)
		if date, err := mail.ParseDate(header.Get("Date")); err == nil {
			a.received = date
		}
	}
	return s.accept(ctx, a)
}

// sendMessage puts the message into SENT. Nobody receives it.
func (s *Server) sendMessage(ctx context.Context, r *http.Request) (any, error) {
	a, err := s.readArrival(r)
	if err != nil {
		return nil, err
	}
	header, _ := rawmail.Split(a.raw)
	if header.Get("To") == "" && header.Get("Cc") == "" && header.Get("Bcc") == "" {
		return nil, invalidArgument("Recipient address required")
	}
	a.raw = completed(a.raw, header, a.received)
	a.labels = []string{labelSent}
	return s.accept(ctx, a)
}

// completed puts the fields that a sent message cannot be without before those that it has.
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

// readArrival reads a request that brings a message.
func (s *Server) readArrival(r *http.Request) (*arrival, error) {
	var request gmail.Message
	if err := readJSON(r, &request); err != nil {
		return nil, err
	}
	raw, err := decodeRaw(request.Raw)
	if err != nil || len(bytes.TrimSpace(raw)) == 0 {
		return nil, invalidArgument("'raw' RFC822 payload message string or uploading message via /upload/* URL required")
	}
	return &arrival{raw: raw, labels: request.LabelIds, threadID: request.ThreadId, received: s.now()}, nil
}

// decodeRaw reads base64url with and without its padding.
func decodeRaw(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

// accept takes in a message that came by the API. Its id follows from the state of the mailbox.
func (s *Server) accept(ctx context.Context, a *arrival) (any, error) {
	a.examine()
	var m messageRow
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := checkLabels(ctx, tx, a.labels); err != nil {
			return err
		}
		if err := checkThread(ctx, tx, a.threadID); err != nil {
			return err
		}
		change, err := nextHistory(ctx, tx)
		if err != nil {
			return err
		}
		a.id = messageID(s.email, "api", strconv.FormatUint(change, 10))
		m, err = a.insert(ctx, tx)
		return err
	})
	return m.ref(), err
}

// checkThread refuses a thread that does not exist.
func checkThread(ctx context.Context, tx queue.Tx, id string) error {
	if id == "" {
		return nil
	}
	var exists bool
	if err := dbquery.Get(ctx, tx, &exists, selectThreadExists, id); err != nil {
		return err
	}
	if !exists {
		return notFound()
	}
	return nil
}
