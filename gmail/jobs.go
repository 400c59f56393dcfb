package gmail

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// The types of this package's jobs. [Register] registers their handlers; [NewBackfillJob] and its like make them,
// with keys that keep them from running twice and with the [mailstore.LimitKey] of their account.
const (
	JobBackfill    queue.Type[BackfillPayload]    = "backfill.gmail"
	JobHistorySync queue.Type[HistorySyncPayload] = "history.sync.gmail"
	JobLabelsSync  queue.Type[LabelsSyncPayload]  = "labels.sync.gmail"
	JobIngest      queue.Type[IngestPayload]      = "ingest.gmail"
	JobAction      queue.Type[ActionPayload]      = postroom.ActionJob
	JobReconcile   queue.Type[ReconcilePayload]   = "reconcile.gmail"
	JobWatch       queue.Type[WatchPayload]       = "watch.gmail"
	JobUnsnooze    queue.Type[UnsnoozePayload]    = "unsnooze.gmail"
	JobIndex       queue.Type[IndexPayload]       = "index.gmail"
)

// What finds labels and new mail goes before the new mail itself, since nothing is decided before the labels are known;
// that goes before other jobs, such as actions, and old mail after them. Of the mail that a gap in the history has
// hidden some is new.
const (
	priorityFind     = 2
	priorityNew      = 1
	priorityMissed   = 0
	priorityBackfill = -10
)

// A BackfillPayload selects one page of older mail.
type BackfillPayload struct {
	AccountID string `json:"account_id"`
	PageToken string `json:"page_token,omitempty"` // empty: the first page
	Query     string `json:"query,omitempty"`      // as in Gmail's search box; empty: all mail
	// Gap is set in a backfill after a gap in the history: it is the history id at the end of the gap. Messages that are
	// not stored are fetched then, whatever became of earlier jobs that did.
	Gap uint64 `json:"gap,omitempty"`
	// Recent is set in the listing of recent messages that a history sync begins where it has no history to read. It is no
	// [mailstore.Backfill] of the account.
	Recent bool `json:"recent,omitempty"`
	// Restarts is how often the backfill has begun again, since Gmail has refused the token of a page. Only this
	// package's jobs set it.
	Restarts int `json:"restarts,omitempty"`
}

// NewBackfillJob makes the job that ingests an account's older mail, page by page. An empty pageToken begins a
// backfill; the Page of a [mailstore.Backfill] resumes it. If Gmail refuses the token, which expires, the backfill
// begins again: stored messages are not fetched again. The key allows one unfinished job for each page.
func NewBackfillJob(accountID, query, pageToken string) queue.NewJob {
	return BackfillPayload{AccountID: accountID, PageToken: pageToken, Query: query}.job()
}

// job makes the job, with a key of its own for each page of each search and of each gap.
func (p BackfillPayload) job() queue.NewJob {
	name := fmt.Sprintf("%s:%s", JobBackfill, p.AccountID)
	switch {
	case p.Gap != 0:
		name += fmt.Sprintf(":fallback:%d", p.Gap)
	case p.Recent:
		name += ":recent:" + p.Query
	case p.Query != "":
		name += ":" + p.Query
	}
	page := p.PageToken
	if page == "" {
		page = "first"
	}
	if p.Restarts != 0 {
		// the token may be one that was refused, whose key belongs to the job that continues with it
		page += fmt.Sprintf(":again:%d", p.Restarts)
	}
	return JobBackfill.New(p, &queue.Options{
		Priority: priorityBackfill, MaxAttempts: attempts.Unattended, Key: queue.WhileUnfinished(name + ":" + page),
		LimitKey: mailstore.LimitKey(p.AccountID),
	})
}

// A HistorySyncPayload names the account to sync.
type HistorySyncPayload struct {
	AccountID string `json:"account_id"`
	// HistoryID is Gmail's latest id according to a push; 0 for a poll. The sync never starts from it.
	HistoryID uint64 `json:"history_id,omitempty"`
}

// NewHistorySyncJob makes the job that syncs an account. The key allows one unfinished job for each history id: a
// push that is delivered twice is one job, and so are polls that overlap. A [Receiver] makes jobs like those of
// polls, of which at most one waits.
func NewHistorySyncJob(accountID string, historyID uint64) queue.NewJob {
	return HistorySyncPayload{AccountID: accountID, HistoryID: historyID}.job(0)
}

// job makes the job. Jobs with a nonzero again may be unfinished beside the others.
func (p HistorySyncPayload) job(again int) queue.NewJob {
	name := fmt.Sprintf("%s:%s", JobHistorySync, p.AccountID)
	if p.HistoryID != 0 {
		name += fmt.Sprintf(":%d", p.HistoryID)
	}
	if again != 0 {
		name += fmt.Sprintf(":again:%d", again)
	}
	return JobHistorySync.New(p, &queue.Options{Priority: priorityFind, Key: queue.WhileUnfinished(name),
		LimitKey: mailstore.LimitKey(p.AccountID)})
}

// A ReconcilePayload names the account to compare with Gmail.
type ReconcilePayload struct {
	AccountID string `json:"account_id"`
	// Step is the current step of a run; 0 begins a run, or continues one that has stopped. Only this package's jobs set
	// it.
	Step int64 `json:"step,omitempty"`
	// Restarts is how often the present list of the run has begun again. Only this package's jobs set it.
	Restarts int `json:"restarts,omitempty"`
}

// NewReconcileJob makes the job that compares all stored messages of an account with Gmail and corrects differences;
// see [Reconciliation]. It begins a run, whose steps are jobs of the same type, one at a time. If a run is in
// progress, the job continues it. The key allows one unfinished job for each account and step. For a schedule, once a
// week is often enough: a run lists each message once for itself and once for each of its labels, at 5 units for 500.
func NewReconcileJob(accountID string) queue.NewJob {
	return ReconcilePayload{AccountID: accountID}.job()
}

func (p ReconcilePayload) job() queue.NewJob {
	name := fmt.Sprintf("%s:%s", JobReconcile, p.AccountID)
	if p.Step != 0 {
		name += fmt.Sprintf(":%d", p.Step)
	}
	if p.Restarts != 0 {
		name += fmt.Sprintf(":again:%d", p.Restarts)
	}
	return JobReconcile.New(p, &queue.Options{
		Priority: priorityBackfill, MaxAttempts: attempts.Unattended, Key: queue.WhileUnfinished(name),
		LimitKey: mailstore.LimitKey(p.AccountID),
	})
}

// A WatchPayload names the account whose changes Gmail is to publish.
type WatchPayload struct {
	AccountID string `json:"account_id"`
}

// NewWatchJob makes the job that asks Gmail to publish the account's changes under Config.Topic, or to continue.
// Gmail stops after seven days ([mailstore.Account].WatchExpiresAt): schedule the job every 24 hours. The key allows
// one unfinished job for each account.
func NewWatchJob(accountID string) queue.NewJob {
	return JobWatch.New(WatchPayload{AccountID: accountID}, &queue.Options{
		MaxAttempts: attempts.Unattended, Key: queue.WhileUnfinished(fmt.Sprintf("%s:%s", JobWatch, accountID)),
		LimitKey: mailstore.LimitKey(accountID),
	})
}

// A LabelsSyncPayload names the account whose labels to sync.
type LabelsSyncPayload struct {
	AccountID string   `json:"account_id"`
	Ensure    []string `json:"ensure,omitempty"` // names to create at Gmail when missing
}

// NewLabelsSyncJob makes the job that brings the account's labels up to date, after creating at Gmail those named by
// ensure that are missing, unless nothing may be changed in a mailbox: see [mailstore.Store.WantedLabels]. The key
// allows one unfinished job for each set of names.
func NewLabelsSyncJob(accountID string, ensure ...string) queue.NewJob {
	name := fmt.Sprintf("%s:%s", JobLabelsSync, accountID)
	if len(ensure) > 0 {
		ensure = slices.Compact(slices.Sorted(slices.Values(ensure)))
		sum := sha256.Sum256([]byte(strings.Join(ensure, "\x00")))
		name += ":" + hex.EncodeToString(sum[:8])
	}
	return JobLabelsSync.New(LabelsSyncPayload{AccountID: accountID, Ensure: ensure},
		// a host waits for it
		&queue.Options{Priority: priorityFind, Key: queue.WhileUnfinished(name), LimitKey: mailstore.LimitKey(accountID)})
}

// An IngestPayload names one message to ingest.
type IngestPayload struct {
	AccountID string `json:"account_id"`
	MessageID string `json:"message_id"` // Gmail's
	Gap       uint64 `json:"gap,omitempty"`
}

// NewIngestJob makes the job that fetches one message, by Gmail's id. The key allows one job per message, for ever:
// to try again, retry the job.
func NewIngestJob(accountID, providerID string) queue.NewJob {
	return IngestPayload{AccountID: accountID, MessageID: providerID}.job(priorityNew)
}

// job makes the job, with a key for the message and for each gap in the history.
func (p IngestPayload) job(priority int) queue.NewJob {
	name := fmt.Sprintf("%s:%s:%s", JobIngest, p.AccountID, p.MessageID)
	if p.Gap != 0 {
		name += fmt.Sprintf(":%d", p.Gap)
	}
	return JobIngest.New(p, &queue.Options{
		Priority: priority, MaxAttempts: attempts.Unattended, Key: queue.Forever(name),
		LimitKey: mailstore.LimitKey(p.AccountID),
	})
}

// An ActionPayload names one action of the ledger to carry out.
type ActionPayload struct {
	AccountID string `json:"account_id"`
	ActionID  string `json:"action_id"`
}

// NewActionJob makes the job that carries out an action. The key allows one unfinished job for each action; a later
// job does not repeat an action that the ledger has as completed.
func NewActionJob(accountID, actionID string) queue.NewJob {
	key := queue.WhileUnfinished(fmt.Sprintf("%s:%s:%s", JobAction, accountID, actionID))
	return JobAction.New(ActionPayload{AccountID: accountID, ActionID: actionID},
		&queue.Options{Key: key, MaxAttempts: attempts.Unattended, LimitKey: mailstore.LimitKey(accountID)})
}

// An UnsnoozePayload names the snoozed message that a [JobUnsnooze] wakes.
type UnsnoozePayload struct {
	AccountID string `json:"account_id"`
	MessageID string `json:"message_id"` // ours
	ActionID  string `json:"action_id"`  // the snooze
	// SnoozeLabelID is the label under which the message sleeps, for people: the one that is removed is that of the
	// signed action.
	SnoozeLabelID string `json:"snooze_label_id,omitempty"`
}

// NewUnsnoozeJob makes the job that puts a snoozed message back into the inbox at a time. The action snooze enqueues
// it by itself. The key allows one unfinished job for each action.
func NewUnsnoozeJob(p UnsnoozePayload, at time.Time) queue.NewJob { return p.job(at, "", false) }

// wakeAttempts is the MaxAttempts of a wake-up: a message that is not woken is out of sight for ever.
const wakeAttempts = 1000

// job makes the job. Its tags find the wake-ups of a message and, if a reply wakes it as well, those of a thread.
func (p UnsnoozePayload) job(at time.Time, threadID string, onReply bool) queue.NewJob {
	tags := []string{attempts.MessageTag(p.MessageID)}
	if onReply {
		tags = append(tags, replyTag(threadID))
	}
	return JobUnsnooze.New(p, &queue.Options{
		NotBefore: at, MaxAttempts: wakeAttempts, Key: queue.WhileUnfinished(wakeKey(p.AccountID, p.ActionID)), Tags: tags,
		LimitKey: mailstore.LimitKey(p.AccountID),
	})
}

func wakeKey(accountID, actionID string) string {
	return fmt.Sprintf("%s:%s:%s", JobUnsnooze, accountID, actionID)
}

func replyTag(providerThreadID string) string { return "reply:" + providerThreadID }

// An IndexPayload names the account whose messages to index.
type IndexPayload struct {
	AccountID string `json:"account_id"`
}

// NewIndexJob makes the job that calls Build of the index of stored mail, [mailstore.Store.Index]. History syncs and
// backfills enqueue it whenever 512 messages of the account wait for it. The key allows one unfinished job for each
// account.
func NewIndexJob(accountID string) queue.NewJob {
	return JobIndex.New(IndexPayload{AccountID: accountID}, &queue.Options{
		Priority: priorityBackfill, MaxAttempts: attempts.Unattended,
		Key:      queue.WhileUnfinished(fmt.Sprintf("%s:%s", JobIndex, accountID)),
		LimitKey: mailstore.LimitKey(accountID),
	})
}

func (p BackfillPayload) account() string    { return p.AccountID }
func (p HistorySyncPayload) account() string { return p.AccountID }
func (p LabelsSyncPayload) account() string  { return p.AccountID }
func (p IngestPayload) account() string      { return p.AccountID }
func (p ActionPayload) account() string      { return p.AccountID }
func (p ReconcilePayload) account() string   { return p.AccountID }
func (p IndexPayload) account() string       { return p.AccountID }
func (p WatchPayload) account() string       { return p.AccountID }
func (p UnsnoozePayload) account() string    { return p.AccountID }
