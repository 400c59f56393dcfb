package mailstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// A messageRow is a message as sqlMessage reads it.
type messageRow struct {
	ID               string          `db:"id"`
	AccountID        string          `db:"account_id"`
	ThreadID         string          `db:"thread_id"`
	ProviderID       string          `db:"provider_message_id"`
	ProviderThreadID string          `db:"provider_thread_id"`
	Labels           maildb.JSONText `db:"labels_json"`
	MessageID        string          `db:"rfc_message_id"`
	InReplyTo        string          `db:"in_reply_to"`
	References       maildb.JSONText `db:"references_json"`
	FromName         string          `db:"from_name"`
	FromEmail        string          `db:"from_email"`
	Recipients       maildb.JSONText `db:"recipients_json"`
	Subject          string          `db:"subject"`
	Snippet          string          `db:"snippet"`
	Headers          maildb.JSONText `db:"headers_json"`
	BodyPlain        string          `db:"body_plain"`
	BodyHTML         string          `db:"body_html"`
	Attachments      maildb.JSONText `db:"attachments_json"`
	Size             int64           `db:"size"`
	ReceivedAt       dbtime.Time     `db:"received_at"`
	SentAt           dbtime.Time     `db:"sent_at"`
}

// recipients are the address lists of a message, in one column: nothing is looked up by them.
type recipients struct {
	ReplyTo []postroom.Address `json:"reply_to,omitempty"`
	To      []postroom.Address `json:"to,omitempty"`
	Cc      []postroom.Address `json:"cc,omitempty"`
	Bcc     []postroom.Address `json:"bcc,omitempty"`
}

func (r *messageRow) message() (*postroom.Message, error) {
	m := &postroom.Message{
		ID: r.ID, AccountID: r.AccountID, ThreadID: r.ThreadID, ProviderID: r.ProviderID,
		ProviderThreadID: r.ProviderThreadID, MessageID: r.MessageID, InReplyTo: r.InReplyTo,
		From: postroom.Address{Name: r.FromName, Email: r.FromEmail}, Subject: r.Subject, Snippet: r.Snippet,
		BodyPlain: r.BodyPlain, BodyHTML: r.BodyHTML, Size: r.Size, ReceivedAt: r.ReceivedAt.Time, Date: r.SentAt.Time,
	}
	var to recipients
	err := errors.Join(
		json.Unmarshal(r.Labels, &m.LabelIDs),
		json.Unmarshal(r.References, &m.References),
		json.Unmarshal(r.Recipients, &to),
		json.Unmarshal(r.Headers, &m.Headers),
		json.Unmarshal(r.Attachments, &m.Attachments),
	)
	if err != nil {
		return nil, fmt.Errorf("gmail: message %s as stored: %w", r.ID, err)
	}
	m.ReplyTo, m.To, m.Cc, m.Bcc = to.ReplyTo, to.To, to.Cc, to.Bcc
	return m, nil
}

// messageArgs are the arguments of sqlUpsertMessage.
func messageArgs(tx queue.Tx, id string, m *postroom.Message, historyID uint64) (args []any, err error) {
	var columns [5]string
	for i, v := range []any{
		postroom.NewSnapshot(m.LabelIDs).LabelIDs, m.References, recipients{m.ReplyTo, m.To, m.Cc, m.Bcc}, m.Headers,
		m.Attachments,
	} {
		if columns[i], err = maildb.JSON(v); err != nil {
			return nil, err
		}
	}
	labels, references, recipients, headers, attachments := columns[0], columns[1], columns[2], columns[3], columns[4]
	now := dbtime.Of(queue.Now(tx))
	return []any{
		id, m.AccountID, m.ThreadID, m.ProviderID, int64(historyID), labels, dbvalue.Clean(m.MessageID),
		dbvalue.Clean(m.InReplyTo),
		references, dbvalue.Clean(m.From.Name), dbvalue.Clean(m.From.Email), recipients, dbvalue.Clean(m.Subject),
		dbvalue.Clean(m.Snippet), headers,
		dbvalue.Clean(m.BodyPlain), dbvalue.Clean(m.BodyHTML), attachments, m.Size, storedTime(m.ReceivedAt),
		storedTime(m.Date), now, now,
		senderKeyColumn(dbvalue.Clean(m.From.Email)),
	}, nil
}

// storedTime returns a time of a message as a column. One that no database keeps is as unknown as none: NULL.
func storedTime(at time.Time) dbtime.Time {
	if second := at.Unix(); second <= maildb.FirstInstant || second >= maildb.LastInstant {
		return dbtime.Time{}
	}
	return dbtime.Of(at)
}
