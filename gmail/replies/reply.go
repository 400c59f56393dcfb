package replies

import (
	"fmt"
	"time"
)

// MaxReworks is how often the draft of one need is written again.
const MaxReworks = 3

// A State is where the reply of a thread stands.
type State string

// The states of a reply. The last three end a need.
const (
	Pending         State = "pending" // a draft will be written
	Drafted         State = "drafted"
	ReworkRequested State = "rework_requested" // a person wants the draft written again
	Sent            State = "sent"
	Archived        State = "archived" // a person is done with the thread
	Skipped         State = "skipped"  // no answer of ours; Reply.Reason says why
)

// Ended reports whether the need has ended.
func (s State) Ended() bool { return s == Sent || s == Archived || s == Skipped }

// A Reply is the answer that a thread needs, or needed.
type Reply struct {
	AccountID     string
	ThreadID      string // Gmail's
	MessageID     string // Gmail's id of the message that is answered; empty if a person has asked and no message has
	SentMessageID string // Gmail's id of the answer; empty unless State is Sent
	State         State
	Reason        string // why it was skipped
	Need          int64  // counts the answers that the thread has needed
	Turn          int64  // counts the works that jobs were asked for
	Reworks       int64  // of this need
	CreatedAt     time.Time
	UpdatedAt     time.Time

	draftKey string // of a draft that Made has told of; empty for one of this need
}

// DraftKey is the key of the draft of this need, for the drafts of package outbox.
func (r *Reply) DraftKey() string {
	if r.draftKey != "" {
		return r.draftKey
	}
	return fmt.Sprintf("reply:%s:%d", r.ThreadID, r.Need)
}

// Exhausted reports whether another rework is wanted than there may be.
func (r *Reply) Exhausted() bool { return r.State == ReworkRequested && r.Reworks >= MaxReworks }

// An Event is what has happened to a reply.
type Event string

// The events. Those of the first group come from outside, each with a cause; those of the second are results of jobs.
const (
	EventNeeded    Event = "needed"
	EventNotNeeded Event = "not_needed"
	EventAsked     Event = "asked"
	EventRework    Event = "rework"
	EventWithdrawn Event = "withdrawn"
	EventDone      Event = "done"
	EventVanished  Event = "vanished"
	EventMade      Event = "made"

	EventDrafted  Event = "drafted"
	EventReworked Event = "reworked"
	EventGaveUp   Event = "gave_up"
	EventSent     Event = "sent"
	EventSkipped  Event = "skipped"
)

// A Change is one line of the history of a reply: an event, and the states before and after it. They are equal if the
// event has only been recorded or has only enqueued a job, and empty if the thread had no reply.
type Change struct {
	Event      Event
	From, To   State
	Need, Turn int64 // afterwards
	Reason     string
	At         time.Time
}

// event is an [Event] with what it says.
type event struct {
	kind       Event
	cause      string
	messageID  string
	draftKey   string
	reason     string
	byPerson   bool  // who ends the need
	need, turn int64 // of the job whose result it is; turn is 0 for an outcome, which counts in every turn of its need
}

// applies reports whether the result of a job is about the present work. An event from outside is always.
func (e *event) applies(r *Reply) bool {
	return e.need == 0 || e.need == r.Need && (e.turn == 0 || e.turn == r.Turn)
}

// after returns the reply after the event, whether the event changes it, and whether a job follows. A thread without a
// reply has the zero State.
func (e *event) after(r Reply) (next Reply, changed, job bool) {
	switch e.kind {
	case EventNeeded, EventNotNeeded, EventAsked:
		return e.begin(r)
	case EventRework, EventWithdrawn, EventReworked, EventGaveUp:
		return e.rework(r)
	case EventMade:
		return e.made(r)
	case EventDone:
		r.State, r.Reason = Archived, ""
		r.Need, r.Turn = max(r.Need, 1), r.Turn+1
		return r, true, true
	case EventVanished:
		return r, false, r.State == Drafted || r.State == ReworkRequested
	case EventDrafted:
		if r.State != Pending {
			return r, false, false
		}
		r.State = Drafted
		return r, true, false
	}
	return e.end(r)
}

func (e *event) begin(r Reply) (next Reply, changed, job bool) {
	switch fresh := r.State == "" || r.State.Ended(); {
	case e.kind == EventNotNeeded && r.State == "":
		r.State, r.MessageID, r.Reason, r.Need, r.Turn = Skipped, e.messageID, e.reason, 1, 1
		return r, true, false
	case e.kind == EventNotNeeded:
		return r, false, false
	case fresh:
		r.State, r.Reason, r.SentMessageID, r.Reworks, r.draftKey = Pending, "", "", 0, ""
		r.Need++
	case r.State != Pending: // a draft lies ready, and the person decides about it
		return r, false, false
	case e.kind == EventAsked: // the earlier job may have failed: another does the same work
		return r, false, true
	}
	if e.messageID != "" {
		r.MessageID = e.messageID
	}
	r.Turn++
	return r, true, true
}

// made begins a need whose draft lies ready. One that is open has a draft, or gets one.
func (e *event) made(r Reply) (next Reply, changed, job bool) {
	if r.State != "" && !r.State.Ended() {
		return r, false, false
	}
	r.State, r.Reason, r.SentMessageID, r.Reworks = Drafted, "", "", 0
	r.MessageID, r.draftKey = e.messageID, e.draftKey
	r.Need++
	r.Turn++
	return r, true, false
}

func (e *event) rework(r Reply) (next Reply, changed, job bool) {
	switch {
	case e.kind == EventRework && (r.State == Drafted || r.State == ReworkRequested):
		r.State = ReworkRequested
		r.Turn++
		return r, true, true
	case e.kind == EventWithdrawn && r.State == ReworkRequested:
		r.State = Drafted
		r.Turn++
		return r, true, false
	case e.kind == EventReworked && r.State == ReworkRequested && !r.Exhausted():
		r.State = Drafted
		r.Reworks++
		return r, true, false
	case e.kind == EventGaveUp && r.Exhausted():
		r.State, r.Reason = Skipped, fmt.Sprintf("the draft was written again %d times; it is a person's now", MaxReworks)
		return r, true, false
	}
	return r, false, false
}

func (e *event) end(r Reply) (next Reply, changed, job bool) {
	if e.byPerson && r.State == Skipped {
		r.Reason = e.reason
		return r, true, false
	}
	if r.State == "" || r.State.Ended() {
		return r, false, false
	}
	r.State, r.Reason = Skipped, e.reason
	if e.kind == EventSent {
		r.State, r.Reason, r.SentMessageID = Sent, "", e.messageID
	}
	return r, true, false
}
