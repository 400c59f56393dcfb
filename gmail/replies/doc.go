// Package replies keeps the life of mail that needs an answer: one row for each thread, its history, and the jobs that
// follow.
//
//	Store         keeps the replies, and enqueues the job of a change in the change's transaction
//	Reply         the present state of a thread
//	Change        one line of its history
//	JobDraft, JobManualDraft, JobRework, JobCleanup   the jobs, whose handlers are the host's
//
// It knows neither Gmail's API nor models, and writes no drafts: a host calls a method of the [Store] for what it
// learns of a mailbox, and its handlers call another for what they have done. Package outbox makes the drafts, once for
// each [Reply.DraftKey].
//
// # The states
//
//	                 Needed, Asked            Drafted
//	(no reply) ───────────────────▶ pending ──────────▶ drafted ◀─────────────┐
//	     │                             ▲                   │ Rework           │ Reworked, at most
//	     │ NotNeeded                   │                   ▼                  │ MaxReworks times; Withdrawn
//	     ▼                             │            rework_requested ─────────┘
//	  skipped                          │                   │ GaveUp, after MaxReworks
//	                     Needed, Asked │                   ▼
//	             (the next need) sent, archived, skipped ◀─┘
//
// Made leads from no reply, and from one that has ended, to drafted, with a draft that another part of the program has
// made: an action of a rule or an agent. From pending, drafted and rework_requested, Sent leads to sent and Skipped to
// skipped; from every state, Done leads to archived. A reply in one of the last three states has ended. What comes next
// in its thread, a message that needs an answer or a person who asks for a draft, begins another need, with another
// draft and no reworks.
//
// # What happens once
//
// An event from outside has a cause, which names it: the id of a message, or the change of the history that has put a
// label on. A cause counts once for a thread and kind of event, however often it arrives, and also if it did nothing
// when it first came: a Rework label on a thread without a draft does not start a rework when it is reported again
// beside a draft. So the same events leave the same state, whichever of them are repeated.
//
// An event that does not fit the state is recorded and changes nothing. Each method reports whether it has changed
// something.
//
// # What a job may report
//
// A job works for one need and one turn, which stand in its payload. A new need, another Rework label, one that is
// taken off, a newer message before the draft is made, and Done begin another turn. The result of a writer (Drafted,
// Reworked, GaveUp) counts only for the present turn, and the outcome (Sent, Skipped) only for the present need. The
// result of a late job is not recorded, and does not disturb what a person has done meanwhile.
//
// A handler looks first, with [Store.Current], whether its turn is the present one, and completes without work if it is
// not: the job may be one of two, may be repeated after a crash, or may come after the end.
package replies
