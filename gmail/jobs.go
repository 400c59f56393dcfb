package gmail

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/queue"
)

// The types of this package's jobs. Their handlers are registered by [Register]; NewBackfill and its like make them with
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
}

// NewBackfill makes the job that ingests an account's older mail, page by page. pageToken resumes a backfill, see
// [Backfill]; empty begins one. While the job is unfinished there is no second one for the same page.
func NewBackfill(accountID, query, pageToken string) queue.NewJob {
	page := pageToken
	if page == "" {
		page = "first"
	}
	if query != "" {
		page = query + ":" + page
	}
	return backfillJob(BackfillPayload{AccountID: accountID, PageToken: pageToken, Query: query}, page)
}

// newFallback makes the backfill that closes a gap in the history. Each gap, named by where the history goes on, has a key
// of its own: one that is still being closed says nothing about the next.
func newFallback(accountID, query string, historyID uint64) queue.NewJob {
	return backfillJob(BackfillPayload{AccountID: accountID, Query: query}, fmt.Sprintf("fallback:%d", historyID))
}

func backfillJob(payload BackfillPayload, page string) queue.NewJob {
	key := queue.WhileUnfinished(fmt.Sprintf("%s:%s:%s", JobBackfill, payload.AccountID, page))
	return JobBackfill.New(payload, &queue.Options{Priority: priorityBackfill, Key: key})
}

// HistorySyncPayload asks for what has changed since the last sync.
type HistorySyncPayload struct {
	AccountID string `json:"account_id"`
	// HistoryID is what a push says is Gmail's latest; 0 for a poll. The sync never starts from it.
	HistoryID uint64 `json:"history_id,omitempty"`
}

// NewHistorySync makes the job that brings an account up to date. While it is unfinished there is no second one for the
// same history id: a push that comes twice is one job, and so are polls that overtake each other.
func NewHistorySync(accountID string, historyID uint64) queue.NewJob {
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

// NewLabelsSync makes the job that brings the account's labels up to date, after creating at Gmail those named by ensure
// that are missing. While it is unfinished there is no second one that ensures the same.
func NewLabelsSync(accountID string, ensure ...string) queue.NewJob {
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
}

// NewIngest makes the job that fetches one message, by Gmail's id. There is never a second one for the same message: to
// try again, retry the job.
func NewIngest(accountID, providerID string) queue.NewJob {
	key := queue.Forever(fmt.Sprintf("%s:%s:%s", JobIngest, accountID, providerID))
	return JobIngest.New(IngestPayload{AccountID: accountID, MessageID: providerID},
		&queue.Options{Priority: priorityNew, Key: key})
}

// ActionPayload asks for one action of the ledger to be carried out.
type ActionPayload struct {
	AccountID string `json:"account_id"`
	ActionID  string `json:"action_id"`
}

// NewAction makes the job that carries out an action. While it is unfinished there is no second one for the action; what
// the ledger has seen done is not done again by a later one.
func NewAction(accountID, actionID string) queue.NewJob {
	key := queue.WhileUnfinished(fmt.Sprintf("%s:%s:%s", JobAction, accountID, actionID))
	return JobAction.New(ActionPayload{AccountID: accountID, ActionID: actionID}, &queue.Options{Key: key})
}
