package replies

import (
	"context"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom/queue"
)

// Needed records that a message needs an answer, and enqueues a [JobDraft]. It begins a need if there is none. A newer
// message takes the place of the one that waits for its draft; once the draft is made, nothing changes. A message
// counts once, for Needed and NotNeeded together: its id is the cause.
func (s *Store) Needed(ctx context.Context, tx queue.Tx, accountID, threadID, messageID string) (bool, error) {
	return s.outside(ctx, tx, accountID, threadID, messageID, event{kind: EventNeeded, messageID: messageID})
}

// Remind is Needed for a reminder of a message that the person has sent, and nobody has answered.
func (s *Store) Remind(ctx context.Context, tx queue.Tx, accountID, threadID, messageID string) (bool, error) {
	return s.outside(ctx, tx, accountID, threadID, messageID,
		event{kind: EventNeeded, messageID: messageID, reason: "a reminder, since nobody has answered"})
}

// NotNeeded records that a message needs no answer, and why. A thread without a reply gets one that is skipped;
// another reply stays as it is.
func (s *Store) NotNeeded(
	ctx context.Context, tx queue.Tx, accountID, threadID, messageID, reason string,
) (bool, error) {
	return s.outside(ctx, tx, accountID, threadID, messageID,
		event{kind: EventNotNeeded, messageID: messageID, reason: reason})
}

// Asked records that a person wants a draft, by the label Needs Response, and enqueues a [JobManualDraft] unless there
// is a draft. The message is the one to answer; it may be empty, and then that of the last need stays.
func (s *Store) Asked(ctx context.Context, tx queue.Tx, accountID, threadID, messageID, cause string) (bool, error) {
	return s.outside(ctx, tx, accountID, threadID, cause, event{kind: EventAsked, messageID: messageID})
}

// AskedBy is Asked by the word of a person who is named, elsewhere than in Gmail.
func (s *Store) AskedBy(ctx context.Context, tx queue.Tx, accountID, threadID, messageID, cause, by string) (bool,
	error) {
	return s.outside(ctx, tx, accountID, threadID, cause,
		event{kind: EventAsked, messageID: messageID, reason: "by " + by})
}

// Rework records that a person wants the draft written again, by the label Rework, and enqueues a [JobRework].
func (s *Store) Rework(ctx context.Context, tx queue.Tx, accountID, threadID, cause string) (bool, error) {
	return s.outside(ctx, tx, accountID, threadID, cause, event{kind: EventRework})
}

// ReworkBy is Rework by the word of a person who is named, elsewhere than in Gmail.
func (s *Store) ReworkBy(ctx context.Context, tx queue.Tx, accountID, threadID, cause, by string) (bool, error) {
	return s.outside(ctx, tx, accountID, threadID, cause, event{kind: EventRework, reason: "by " + by})
}

// Withdrawn records that a person no longer wants the draft written again: the label Rework was taken off. The draft
// stays as it is.
func (s *Store) Withdrawn(ctx context.Context, tx queue.Tx, accountID, threadID, cause string) (bool, error) {
	return s.outside(ctx, tx, accountID, threadID, cause, event{kind: EventWithdrawn})
}

// Done records that a person is done with the thread, by the label Done, and enqueues a [JobCleanup] that archives it.
// The thread needs no reply for that.
func (s *Store) Done(ctx context.Context, tx queue.Tx, accountID, threadID, cause string) (bool, error) {
	return s.outside(ctx, tx, accountID, threadID, cause, event{kind: EventDone})
}

// Vanished records that the draft may be gone, and enqueues a [JobCleanup] that finds out whether it was sent. The
// reply keeps its state until then: Gmail also reports a draft that was only edited in this way.
func (s *Store) Vanished(ctx context.Context, tx queue.Tx, accountID, threadID, cause string) (bool, error) {
	return s.outside(ctx, tx, accountID, threadID, cause, event{kind: EventVanished})
}

// Made records that another part of the program has made a draft of an answer to a message, under the key for package
// outbox, which is the cause. A thread whose need is open keeps the draft that it has or gets: nothing changes then.
func (s *Store) Made(ctx context.Context, tx queue.Tx, accountID, threadID, messageID, draftKey string) (bool, error) {
	return s.outside(ctx, tx, accountID, threadID, draftKey,
		event{kind: EventMade, messageID: messageID, draftKey: draftKey})
}

// Drafted records that the draft of a pending reply was made.
func (s *Store) Drafted(ctx context.Context, tx queue.Tx, w Work) (bool, error) {
	return s.result(ctx, tx, w, event{kind: EventDrafted})
}

// Reworked records that the draft was written again. It changes nothing if the reply is [Reply.Exhausted].
func (s *Store) Reworked(ctx context.Context, tx queue.Tx, w Work) (bool, error) {
	return s.result(ctx, tx, w, event{kind: EventReworked})
}

// GaveUp records that the draft will not be written again. It changes nothing unless the reply is [Reply.Exhausted].
func (s *Store) GaveUp(ctx context.Context, tx queue.Tx, w Work) (bool, error) {
	return s.result(ctx, tx, w, event{kind: EventGaveUp})
}

// Sent records that the need was answered, by the draft or by hand, with the message that was sent. The reason stands
// in the history; it may be empty.
func (s *Store) Sent(
	ctx context.Context, tx queue.Tx, accountID, threadID string, need int64, messageID, reason string,
) (bool, error) {
	return s.result(ctx, tx, Work{accountID, threadID, need, 0},
		event{kind: EventSent, messageID: messageID, reason: reason})
}

// SentBy is Sent by the word of a person who is named, elsewhere than in Gmail.
func (s *Store) SentBy(
	ctx context.Context, tx queue.Tx, accountID, threadID string, need int64, messageID, by string,
) (bool, error) {
	return s.result(ctx, tx, Work{accountID, threadID, need, 0},
		event{kind: EventSent, messageID: messageID, reason: "by " + by})
}

// Skipped records that the need ends without an answer, and why: a person has deleted the draft or taken the label off.
func (s *Store) Skipped(
	ctx context.Context, tx queue.Tx, accountID, threadID string, need int64, reason string,
) (bool, error) {
	return s.result(ctx, tx, Work{accountID, threadID, need, 0}, event{kind: EventSkipped, reason: reason})
}

// SkippedBy records that it was a person who ended the need, by deleting the draft: a job may have learned from Gmail
// that the draft is gone, and recorded that, before the person's word is recorded.
func (s *Store) SkippedBy(
	ctx context.Context, tx queue.Tx, accountID, threadID string, need int64, by string,
) (bool, error) {
	return s.result(ctx, tx, Work{accountID, threadID, need, 0},
		event{kind: EventSkipped, reason: "discarded by " + by, byPerson: true})
}

// maxCause is the most bytes of a cause: it is a part of the key of a job.
const maxCause = 200

func (s *Store) outside(
	ctx context.Context, tx queue.Tx, accountID, threadID, cause string, e event,
) (changed bool, err error) {
	if strings.TrimSpace(cause) == "" || len(cause) > maxCause {
		return false, fmt.Errorf("replies: %s: the cause has %d bytes; give 1 to %d that name the event, such as the id of "+
			"the message and of the change of its history", e.kind, len(cause), maxCause)
	}
	e.cause = string(e.kind) + ":" + cause
	if e.kind == EventNeeded || e.kind == EventNotNeeded {
		e.cause = "message:" + cause
	}
	return s.record(ctx, tx, accountID, threadID, &e)
}

// result is an event of the job's; a need, and a turn, have one result of a kind.
func (s *Store) result(ctx context.Context, tx queue.Tx, w Work, e event) (changed bool, err error) {
	e.need, e.turn = w.Need, w.Turn
	outcome := e.kind == EventSent || e.kind == EventSkipped
	switch {
	case e.need < 1:
		return false, fmt.Errorf("replies: %s: the need is %d; give that of the job's payload", e.kind, e.need)
	case e.turn < 1 && !outcome:
		return false, fmt.Errorf("replies: %s: the turn is %d; give that of the job's payload", e.kind, e.turn)
	}
	e.cause = fmt.Sprintf("%s.%d.%d", e.kind, w.Need, w.Turn)
	if e.byPerson {
		e.cause += ".person"
	}
	return s.record(ctx, tx, w.AccountID, w.ThreadID, &e)
}
