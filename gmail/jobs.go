package gmail

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// The types of this package's jobs. Their handlers are registered by [Register]; NewBackfillJob and its like make them with
// the keys that keep them from being done twice.
const (
	JobBackfill    queue.Type[BackfillPayload]    = "backfill.gmail"
	JobHistorySync queue.Type[HistorySyncPayload] = "history.sync.gmail"
	JobLabelsSync  queue.Type[LabelsSyncPayload]  = "labels.sync.gmail"
	JobIngest      queue.Type[IngestPayload]      = "ingest.gmail"
	JobAction      queue.Type[ActionPayload]      = "action.gmail"
)

// Priorities: what has just arrived goes before the rest, and what is old after it.
const (
	priorityNew      = 1
	priorityBackfill = -10
)

// BackfillPayload asks for one page of older mail.
type BackfillPayload struct {
	AccountID string `json:"account_id"`
	PageToken string `json:"page_token,omitempty"` // empty: the first page
	Query     string `json:"query,omitempty"`      // as in Gmail's search box; empty: all mail
	// Gap is set in a backfill that closes a gap in the history: the history id from which it goes on. What is listed is
	// then fetched again even if it is known, for its labels may have changed in the gap.
	Gap uint64 `json:"gap,omitempty"`
}

// NewBackfillJob makes the job that ingests an account's older mail, page by page. pageToken resumes a backfill, see
// [Backfill]; empty begins one. While the job is unfinished there is no second one for the same page.
func NewBackfillJob(accountID, query, pageToken string) queue.NewJob {
	return BackfillPayload{AccountID: accountID, PageToken: pageToken, Query: query}.job()
}

// job has a key of its own for each page of each search and each gap: a gap that is still being closed says nothing about
// the next one.
func (p BackfillPayload) job() queue.NewJob {
	name := fmt.Sprintf("%s:%s", JobBackfill, p.AccountID)
	switch {
	case p.Gap != 0:
		name += fmt.Sprintf(":fallback:%d", p.Gap)
	case p.Query != "":
		name += ":" + p.Query
	}
	page := p.PageToken
	if page == "" {
		page = "first"
	}
	return JobBackfill.New(p, &queue.Options{
		Priority: priorityBackfill, MaxAttempts: attempts.Unattended, Key: queue.WhileUnfinished(name + ":" + page),
	})
}

// HistorySyncPayload asks for what has changed since the last sync.
type HistorySyncPayload struct {
	AccountID string `json:"account_id"`
	// HistoryID is what a push says is Gmail's latest; 0 for a poll. The sync never starts from it.
	HistoryID uint64 `json:"history_id,omitempty"`
}

// NewHistorySyncJob makes the job that brings an account up to date. While it is unfinished there is no second one for the
// same history id: a push that comes twice is one job, and so are polls that overtake each other.
func NewHistorySyncJob(accountID string, historyID uint64) queue.NewJob {
	name := fmt.Sprintf("%s:%s", JobHistorySync, accountID)
	if historyID != 0 {
		name += fmt.Sprintf(":%d", historyID)
	}
	return JobHistorySync.New(HistorySyncPayload{AccountID: accountID, HistoryID: historyID},
		&queue.Options{Priority: priorityNew, Key: queue.WhileUnfinished(name)})
}

// LabelsSyncPayload asks for the account's labels.
type LabelsSyncPayload struct {
	AccountID string   `json:"account_id"`
	Ensure    []string `json:"ensure,omitempty"` // names to create at Gmail when missing
}

// NewLabelsSyncJob makes the job that brings the account's labels up to date, after creating at Gmail those named by ensure
// that are missing. While it is unfinished there is no second one that ensures the same.
func NewLabelsSyncJob(accountID string, ensure ...string) queue.NewJob {
	name := fmt.Sprintf("%s:%s", JobLabelsSync, accountID)
	if len(ensure) > 0 {
		ensure = slices.Compact(slices.Sorted(slices.Values(ensure)))
		sum := sha256.Sum256([]byte(strings.Join(ensure, "\x00")))
		name += ":" + hex.EncodeToString(sum[:8])
	}
	return JobLabelsSync.New(LabelsSyncPayload{AccountID: accountID, Ensure: ensure},
		&queue.Options{Key: queue.WhileUnfinished(name)})
}

// IngestPayload asks for one message.
type IngestPayload struct {
	AccountID string `json:"account_id"`
	MessageID string `json:"message_id"` // Gmail's
	Gap       uint64 `json:"gap,omitempty"`
}

// NewIngestJob makes the job that fetches one message, by Gmail's id. There is never a second one for the same message: to
// try again, retry the job.
func NewIngestJob(accountID, providerID string) queue.NewJob {
	return IngestPayload{AccountID: accountID, MessageID: providerID}.job()
}

// job fetches a message once, and once more for each gap in the history.
func (p IngestPayload) job() queue.NewJob {
	name := fmt.Sprintf("%s:%s:%s", JobIngest, p.AccountID, p.MessageID)
	if p.Gap != 0 {
		name += fmt.Sprintf(":%d", p.Gap)
	}
	return JobIngest.New(p, &queue.Options{Priority: priorityNew, MaxAttempts: attempts.Unattended, Key: queue.Forever(name)})
}

// ActionPayload asks for one action of the ledger to be carried out.
type ActionPayload struct {
	AccountID string `json:"account_id"`
	ActionID  string `json:"action_id"`
}

// NewActionJob makes the job that carries out an action. While it is unfinished there is no second one for the action; what
// the ledger has seen done is not done again by a later one.
func NewActionJob(accountID, actionID string) queue.NewJob {
	key := queue.WhileUnfinished(fmt.Sprintf("%s:%s:%s", JobAction, accountID, actionID))
	return JobAction.New(ActionPayload{AccountID: accountID, ActionID: actionID},
		&queue.Options{Key: key, MaxAttempts: attempts.Unattended})
}
