package mailarchive

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/safety"
)

// records are the actions of a ledger that have ended, with their decisions, by when they ended.
type records struct {
	ledger *safety.Ledger
	mail   *mailstore.Store
	now    func() time.Time
}

// NewRecords returns the actions of a ledger that have ended a minute before now or earlier.
func NewRecords(ledger *safety.Ledger, mail *mailstore.Store, now func() time.Time) archive.Records {
	return records{ledger, mail, now}
}

// A Record is an action that has ended, and its decision: a line of the archive.
type Record struct {
	Type       string               `json:"type"` // action
	ID         string               `json:"id"`
	Message    string               `json:"message"` // Gmail's id
	Sender     string               `json:"sender"`
	Subject    string               `json:"subject"`
	Action     postroom.ActionType  `json:"action"`
	Parameters postroom.Parameters  `json:"parameters,omitempty"`
	State      postroom.ActionState `json:"state"`
	Error      string               `json:"error,omitempty"`
	Source     postroom.Source      `json:"source"`
	Rule       string               `json:"rule,omitempty"`
	Model      string               `json:"model,omitempty"`
	Confidence float64              `json:"confidence"`
	Rationale  string               `json:"rationale"`
	DecidedAt  time.Time            `json:"decided_at"`
	EndedAt    time.Time            `json:"ended_at"`
}

func newRecord(e safety.Entry) Record {
	a, d := e.Action, e.Decision
	return Record{"action", a.ID, a.ProviderMessageID, d.Sender, d.Subject, a.Type, a.Parameters, a.State, a.Error,
		d.Decision.Source, d.Decision.RuleName, d.Decision.Model, d.Decision.Confidence, d.Decision.Rationale, d.CreatedAt,
		a.UpdatedAt}
}

const (
	// window is the longest time whose actions are read at once. A day with too many is halved.
	window = 24 * time.Hour
	// settled is how long ago an action has ended when it is archived: a transaction that ended it has committed by then.
	settled = time.Minute
	// page is the ledger's most.
	page = 100
)

// After implements [archive.Records]. The cursor is the time until which actions were read.
func (r records) After(ctx context.Context, accountID, cursor string, most int) (list []json.RawMessage, next string,
	err error) {
	until := r.now().Add(-settled)
	from, err := r.begin(ctx, accountID, cursor)
	if err != nil {
		return nil, "", err
	}
	for length := window; from.Before(until); {
		to := from.Add(length)
		if to.After(until) {
			to = until
		}
		entries, err := r.between(ctx, accountID, from, to, most)
		if err != nil {
			return nil, "", err
		}
		if len(entries) > most && length > time.Millisecond {
			length /= 2
			continue
		}
		if from = to; len(entries) > 0 {
			list, err = encode(entries)
			return list, from.UTC().Format(time.RFC3339Nano), err
		}
	}
	return nil, "", nil
}

// begin returns the time of a cursor; of the empty one, when the mailbox was added.
func (r records) begin(ctx context.Context, accountID, cursor string) (time.Time, error) {
	if cursor == "" {
		account, err := r.mail.Account(ctx, accountID)
		return account.CreatedAt, err
	}
	from, err := time.Parse(time.RFC3339Nano, cursor)
	if err != nil {
		err = fmt.Errorf("archive: the cursor of the records: %w", err)
	}
	return from, err
}

// between returns the actions that ended in a time, oldest first, and at most one page more than most.
func (r records) between(ctx context.Context, accountID string, from, to time.Time, most int) (all []safety.Entry,
	err error) {
	f := safety.Filter{AccountID: accountID, EndedSince: from, EndedUntil: to, Limit: page}
	for len(all) <= most {
		entries, err := r.ledger.Actions(ctx, f)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
		if len(entries) < page {
			break
		}
		f.Before = entries[len(entries)-1].Action.ID
	}
	slices.Reverse(all)
	return all, nil
}

func encode(entries []safety.Entry) ([]json.RawMessage, error) {
	list := make([]json.RawMessage, len(entries))
	for i := range entries {
		text, err := json.Marshal(newRecord(entries[i]))
		if err != nil {
			return nil, fmt.Errorf("archive: action %s: %w", entries[i].Action.ID, err)
		}
		list[i] = text
	}
	return list, nil
}
