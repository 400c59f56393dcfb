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

// The types of this package's jobs. [Register] registers their handlers; [NewBackfillJob] and its like make them, with keys
// that keep them from running twice.
const (
	JobBackfill    queue.Type[BackfillPayload]    = "backfill.gmail"
	JobHistorySync queue.Type[HistorySyncPayload] = "history.sync.gmail"
	JobLabelsSync  queue.Type[LabelsSyncPayload]  = "labels.sync.gmail"
	JobIngest      queue.Type[IngestPayload]      = "ingest.gmail"
	JobAction      queue.Type[ActionPayload]      = "action.gmail"
)

// New mail goes before other jobs, and old mail after them.
const (
	priorityNew      = 1
	priorityBackfill = -10
)

// A BackfillPayload selects one page of older mail.
type BackfillPayload struct {
	AccountID string `json:"account_id"`
	PageToken string `json:"page_token,omitempty"` // empty: the first page
	Query     string `json:"query,omitempty"`      // as in Gmail's search box; empty: all mail
	// Gap is set in a backfill that closes a gap in the history: it is the history id at the end of the gap. Known messages
	// are fetched again then, because their labels may have changed in the gap.
	Gap uint64 `json:"gap,omitempty"`
}

// NewBackfillJob makes the job that ingests an account's older mail, page by page. An empty pageToken begins a backfill, the
// Page of a [Backfill] resumes it. The key allows one unfinished job for each page.
func NewBackfillJob(accountID, query, pageToken string) queue.NewJob {
	return BackfillPayload{AccountID: accountID, PageToken: pageToken, Query: query}.job()
}

// job makes the job, with a key of its own for each page of each search and of each gap.
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

// A HistorySyncPayload names the account to sync.
type HistorySyncPayload struct {
	AccountID string `json:"account_id"`
	// HistoryID is Gmail's latest id according to a push; 0 for a poll. The sync never starts from it.
	HistoryID uint64 `json:"history_id,omitempty"`
}

// NewHistorySyncJob makes the job that syncs an account. The key allows one unfinished job for each history id: a push that
// is delivered twice is one job, and so are polls that overlap.
func NewHistorySyncJob(accountID string, historyID uint64) queue.NewJob {
	name := fmt.Sprintf("%s:%s", JobHistorySync, accountID)
	if historyID != 0 {
		name += fmt.Sprintf(":%d", historyID)
	}
	return JobHistorySync.New(HistorySyncPayload{AccountID: accountID, HistoryID: historyID},
		&queue.Options{Priority: priorityNew, Key: queue.WhileUnfinished(name)})
}

// A LabelsSyncPayload names the account whose labels to sync.
type LabelsSyncPayload struct {
	AccountID string   `json:"account_id"`
	Ensure    []string `json:"ensure,omitempty"` // names to create at Gmail when missing
}

// NewLabelsSyncJob makes the job that brings the account's labels up to date, after creating at Gmail those named by ensure
// that are missing. The key allows one unfinished job for each set of names.
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

// An IngestPayload names one message to ingest.
type IngestPayload struct {
	AccountID string `json:"account_id"`
	MessageID string `json:"message_id"` // Gmail's
	Gap       uint64 `json:"gap,omitempty"`
}

// NewIngestJob makes the job that fetches one message, by Gmail's id. The key allows one job per message, for ever: to try
// again, retry the job.
func NewIngestJob(accountID, providerID string) queue.NewJob {
	return IngestPayload{AccountID: accountID, MessageID: providerID}.job()
}

// job makes the job, with a key for the message and for each gap in the history.
func (p IngestPayload) job() queue.NewJob {
	name := fmt.Sprintf("%s:%s:%s", JobIngest, p.AccountID, p.MessageID)
	if p.Gap != 0 {
		name += fmt.Sprintf(":%d", p.Gap)
	}
	return JobIngest.New(p, &queue.Options{Priority: priorityNew, MaxAttempts: attempts.Unattended, Key: queue.Forever(name)})
}

// An ActionPayload names one action of the ledger to carry out.
type ActionPayload struct {
	AccountID string `json:"account_id"`
	ActionID  string `json:"action_id"`
}

// NewActionJob makes the job that carries out an action. The key allows one unfinished job for each action; a later job does
// not repeat an action that the ledger has as completed.
func NewActionJob(accountID, actionID string) queue.NewJob {
	key := queue.WhileUnfinished(fmt.Sprintf("%s:%s:%s", JobAction, accountID, actionID))
	return JobAction.New(ActionPayload{AccountID: accountID, ActionID: actionID},
		&queue.Options{Key: key, MaxAttempts: attempts.Unattended})
}
