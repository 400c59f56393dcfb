// Package safety decides which actions need a person's approval, and records decisions, actions and approvals.
//
// # The gate
//
// A [Gate] runs four checks on each decision: the action is dangerous; the confidence is below the threshold; the action
// always needs approval; the decision requests approval. Any one of them makes the action wait for a person, and the reasons
// are recorded with the decision. Only a rule of the user's with a safe mode releases a check; see [Gate.Judge]. No answer of
// a model does, so a model that obeys the mail instead of its user gets no further than a request for approval.
//
// # The ledger
//
// A [Ledger] keeps four tables: decisions, the actions they led to, the links between actions (an undo and what it takes
// back) and the requests for approval. All its writing methods take the caller's transaction, so that a decision, its action
// and the job that follows are there together or not at all.
//
//	              ┌──────────── Hold ───────────┐
//	              ▼                             │
//	Record → approved_pending ── Approve ──→ queued ── Start ──→ executing ── Complete ──→ completed
//	              │                             │                    │
//	              ├── Cancel → canceled ←───────┼────────────────────┤
//	              └── Reject → rejected ←───────┤                    │
//	                                            └── Fail → failed ←──┘
//
// Who may write what:
//
//   - Record and Refuse belong to the job that decides: classify. They are idempotent by message and decision key, so a
//     job that runs again after a crash records nothing twice.
//   - Approve, Reject and Renew belong to people. Each request is answered once, before its expiry, by someone on the list
//     of approvers if there is one, and only if the action is still what the request was made for.
//   - Start, Complete, Fail and SetReport belong to the job that executes. Start ties the action to the job: the same job
//     may start it again, no other can.
//   - Cancel belongs to the host.
//
// Each change is one statement that compares and sets. Of two that come at once one wins; the other gets a [*StateError]
// with the state that won, and has written nothing.
//
// # When something fails
//
// A crash before the commit leaves no trace: the job runs again. A crash after it leaves the ledger right and the job free to
// find out: Record returns the action of the first decision, Start returns the action that is already its own, and any change
// that has happened answers with its state. An executing action whose job has ended without a word stays executing; its
// owner's JobID says which job to ask. An undo that fails is void: it stays on record, and what it was to take back can be
// undone again.
package safety
