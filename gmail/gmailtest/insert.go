package gmailtest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// An arrival is a message that is about to enter the mailbox, with everything that can be computed outside a
// transaction.
type arrival struct {
	account    int64
	id         string
	threadID   string // empty: found by its references
	labels     []string
	received   time.Time
	raw        []byte
	rfc822ID   string
	references []string // including its own id
	answers    bool     // it refers to another message
	subjectKey string

	keepsThread bool // it replaces a message of its thread
	snippet     string
	words       rawmail.WordList
}

// examine computes the properties of a message that the mailbox needs.
func (a *arrival) examine() {
	message := rawmail.Parse(a.raw)
	a.snippet = rawmail.Snippet(message)
	a.words = rawmail.ReadWords(message)
	references := slices.Concat(
		rawmail.MessageIDs(message.Header.Get("References")),
		rawmail.MessageIDs(message.Header.Get("In-Reply-To")))
	references = references[max(0, len(references)-maxReferences):]
	a.answers = len(references) > 0
	a.subjectKey = subjectKey(rawmail.DecodeText(message.Header.Get("Subject")))
	if ids := rawmail.MessageIDs(message.Header.Get("Message-ID")); len(ids) > 0 {
		a.rfc822ID = ids[0]
		references = append(references, a.rfc822ID)
	}
	a.references = references
}

// insert inserts the message.
func (a *arrival) insert(ctx context.Context, tx queue.Tx) (messageRow, error) {
	m := messageRow{Account: a.account, ID: a.id, RFC822ID: a.rfc822ID, ThreadID: a.threadID,
		Labels: slices.Compact(slices.Sorted(slices.Values(a.labels)))}
	if m.ThreadID == "" {
		var err error
		if m.ThreadID, err = a.findThread(ctx, tx); err != nil {
			return m, err
		}
	}
	// record, below, gives it its history id.
	m.InternalDate = a.received.UnixMilli()
	err := dbquery.Get(ctx, tx, &m.Seq, insertMessage,
		a.account, a.id, m.ThreadID, a.rfc822ID, m.InternalDate, len(a.raw), a.snippet, m.hidden(), a.subjectKey)
	if err != nil {
		return m, fmt.Errorf("insert message %s: %w", a.id, err)
	}
	if _, err := tx.ExecContext(ctx, insertRaw, m.Seq, a.raw); err != nil {
		return m, fmt.Errorf("insert message %s: %w", a.id, err)
	}
	if err := insertWordList(ctx, tx, m.Seq, a.words); err != nil {
		return m, fmt.Errorf("insert message %s: %w", a.id, err)
	}
	for _, label := range m.Labels {
		if _, err := tx.ExecContext(ctx, insertMessageLabel, m.Seq, label, m.Account, m.InternalDate); err != nil {
			return m, fmt.Errorf("insert message %s: label %s: %w", a.id, label, err)
		}
	}
	if err := rememberReferences(ctx, tx, m.Account, m.ThreadID, a.references); err != nil {
		return m, err
	}
	return m, m.record(ctx, tx, kindAdded, nil, nil)
}

// messageID derives the id of a message from its identity: 16 hexadecimal digits, like Gmail's.
func messageID(identity ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(identity, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// importMessage, unlike insertMessage, treats a message as one that has just arrived: it may be spam, and is inserted
// once.
func (s *Server) importMessage(ctx context.Context, r *request) (any, error) {
	neverSpam, err := boolean(r.query, "neverMarkSpam")
	if err != nil {
		return nil, err
	}
	// There is no calendar for invitations; the parameter is checked and has no visible effect.
	if _, err := boolean(r.query, "processForCalendar"); err != nil {
		return nil, err
	}
	a, err := s.readStored(r, "dateHeader")
	if err != nil {
		return nil, err
	}
	if !neverSpam && isSpam(a.raw) {
		a.labels = append(without(a.labels, []string{labelInbox}), labelSpam)
	}
	return s.store(ctx, r, a, true)
}

func (s *Server) insertMessage(ctx context.Context, r *request) (any, error) {
	a, err := s.readStored(r, "receivedTime")
	if err != nil {
		return nil, err
	}
	return s.store(ctx, r, a, false)
}

// readStored reads a request that inserts a message into the mailbox.
func (s *Server) readStored(r *request, dateSource string) (*arrival, error) {
	var request gmail.Message
	if err := r.readJSON(&request); err != nil {
		return nil, err
	}
	a, err := s.readArrival(r, &request)
	if err != nil {
		return nil, err
	}
	a.labels = request.LabelIds
	switch source := cmp.Or(r.query.Get("internalDateSource"), dateSource); source {
	case "receivedTime":
	case "dateHeader":
		header, _ := rawmail.Split(a.raw)
		if date, err := mail.ParseDate(header.Get("Date")); err == nil {
			a.received = date
		}
	default:
		return nil, wire.InvalidArgument(
			"Invalid value at 'internal_date_source' (type.googleapis.com/google.gmail.v1.InternalDateSource), %q", source)
	}
	return a, nil
}

// readArrival makes an arrival from the message of an upload, or from the one in the JSON.
func (s *Server) readArrival(r *request, request *gmail.Message) (*arrival, error) {
	raw := r.media
	if raw == nil && request != nil {
		var err error
		if raw, err = decodeRaw(request.Raw); err != nil {
			return nil, wire.InvalidArgument("Invalid value at 'message.raw' (TYPE_BYTES), Base64 decoding failed")
		}
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, wire.InvalidArgument(
			"'raw' RFC822 payload message string or uploading message via /upload/* URL required")
	}
	a := &arrival{account: r.account.id, raw: raw, received: s.now()}
	if request != nil {
		a.threadID = request.ThreadId
	}
	return a, nil
}

// decodeRaw decodes base64 of either alphabet, with or without padding.
func decodeRaw(text string) ([]byte, error) {
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	return base64.RawURLEncoding.DecodeString(text)
}

// store puts the message into the mailbox. With once, a message whose Message-ID already exists adds its labels to
// the existing one.
func (s *Server) store(ctx context.Context, r *request, a *arrival, once bool) (any, error) {
	vanishes, err := boolean(r.query, "deleted")
	if err != nil {
		return nil, err
	}
	a.examine()
	var m messageRow
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if err := checkLabels(ctx, tx, a.account, a.labels); err != nil {
			return err
		}
		if once && a.rfc822ID != "" {
			m, err = loadMessageOf(ctx, tx, a.account, a.rfc822ID)
			if err == nil {
				m, err = changeLabels(ctx, tx, a.account, m.ID, a.labels, nil)
				return err
			}
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		if m, err = s.accept(ctx, tx, r.account, a); err == nil && vanishes {
			err = removeMessage(ctx, tx, a.account, m.ID)
		}
		return err
	})
	return m.ref(), err
}

// accept inserts a message from the API. Its id is derived from the state of the mailbox.
func (s *Server) accept(ctx context.Context, tx queue.Tx, owner *Account, a *arrival) (messageRow, error) {
	if err := a.checkThread(ctx, tx); err != nil {
		return messageRow{}, err
	}
	change, err := nextHistory(ctx, tx, a.account)
	if err != nil {
		return messageRow{}, err
	}
	a.id = messageID(owner.email, "api", strconv.FormatUint(change, 10))
	return a.insert(ctx, tx)
}

// gtube is the text that every spam filter considers spam (the Generic Test for Unsolicited Bulk Email). This server
// knows no other spam.
const gtube = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"

func isSpam(raw []byte) bool { return bytes.Contains(raw, []byte(gtube)) }
