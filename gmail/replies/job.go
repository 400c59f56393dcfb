package replies

import (
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// The jobs of a reply. A [Store] enqueues them; their handlers are the host's.
const (
	// JobDraft writes the draft that a message needs. Its result is [Store.Drafted], or [Store.Skipped].
	JobDraft queue.Type[Work] = "draft"
	// JobManualDraft writes the draft that a person has asked for. Its result is that of JobDraft.
	JobManualDraft queue.Type[Work] = "manual_draft"
	// JobRework writes the draft again, as the person has asked. Its result is [Store.Reworked], or [Store.GaveUp] if
	// [Reply.Exhausted].
	JobRework queue.Type[Work] = "rework"
	// JobCleanup archives the thread ([CleanupDone]), or finds out what a person has done with a draft that is gone
	// ([CleanupCheckSent]), whose result is [Store.Sent] or [Store.Skipped], or deletes a draft ([CleanupWithdraw]).
	JobCleanup queue.Type[Cleanup] = "cleanup"
)

// Work is the payload of the jobs that write. A result counts only while Turn is the present one.
type Work struct {
	AccountID string `json:"account_id"`
	ThreadID  string `json:"thread_id"` // Gmail's
	Need      int64  `json:"need"`
	Turn      int64  `json:"turn"`
}

// Cleanup is the payload of [JobCleanup]. An outcome counts only while Need is the present one.
type Cleanup struct {
	AccountID string        `json:"account_id"`
	ThreadID  string        `json:"thread_id"` // Gmail's
	Need      int64         `json:"need"`
	Action    CleanupAction `json:"action"`
}

// A CleanupAction is what a [JobCleanup] does.
type CleanupAction string

// The actions of a [JobCleanup].
const (
	CleanupDone      CleanupAction = "done"
	CleanupCheckSent CleanupAction = "check_sent"
	// CleanupWithdraw deletes the draft of a need that has ended: a host enqueues it.
	CleanupWithdraw CleanupAction = "withdraw"
)

// job makes the job of an event. A cause counts once, and so does its key, for ever.
func (e *event) job(r *Reply) queue.NewJob {
	options := func(name string) *queue.Options {
		return &queue.Options{
			MaxAttempts: attempts.Unattended,
			LimitKey:    mailstore.LimitKey(r.AccountID),
			Key:         queue.Forever(name + ":" + r.AccountID + ":" + r.ThreadID + ":" + e.cause),
		}
	}
	work := Work{r.AccountID, r.ThreadID, r.Need, r.Turn}
	cleanup := Cleanup{r.AccountID, r.ThreadID, r.Need, CleanupDone}
	switch e.kind {
	case EventNeeded:
		return JobDraft.New(work, options(string(JobDraft)))
	case EventAsked:
		return JobManualDraft.New(work, options(string(JobManualDraft)))
	case EventRework:
		return JobRework.New(work, options(string(JobRework)))
	case EventVanished:
		cleanup.Action = CleanupCheckSent
	}
	return JobCleanup.New(cleanup, options(string(JobCleanup)))
}
