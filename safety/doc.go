// Package safety decides which actions need a person's approval, and records decisions, actions and approvals.
//
// # The gate
//
// A [Gate] checks each decision. An action waits for a person if it is dangerous; if the confidence is below the threshold; if
// the action always needs approval; if the decision requests approval; or if there are further doubts. The reasons are recorded
// with the decision. Only a rule of the user with a safe mode releases a check; see [Gate.Judge]. No answer of a model releases a
// check, so a model that obeys the mail instead of its user achieves no more than a request for approval.
//
// # Who decided
//
// The program that asks a decider records the source of the decision: package rules marks the answer of a model as a model's,
// whatever the answer says. The ledger also does not trust what a decision says about its rule. It looks up the rule in
// [Config].Rules, in the transaction that records the decision. The rule must be stored, enabled and at the version that matched,
// and must specify this action with these parameters. Its safe mode is read from the store. Otherwise a person is asked.
//
// # What a model does alone
//
// Without a person, a model's decision leads only to the actions in [Policy].ModelAlone. By default these leave the message in
// the mailbox and can be undone exactly. A model cannot archive, trash or unspam a message by adding or removing a system label.
// [Policy].ModelShare limits how many messages of an account models take out of the inbox within a day. A model decides alone
// about no message with a sign of an attack; see [Signs].
//
// A recipient that only the model names needs a person, and so does a label that the account does not have or keeps from models;
// see Recipients of [Policy] and Labels of [Config].
//
// # Limits
//
// These limits hold whatever a decision or the text of a message says:
//
//   - [Cap]: a number of actions of a kind, a source and a period without a person. An action beyond the cap waits for a person.
//   - [Breaker]: rules or models are stopped if they carry out, fail or have undone too many actions. Notify is called once.
//   - [Quiet]: hours in which all actions except those listed wait until the hours end.
//   - [Ledger.Stop], [Config].StopFile: no action starts, on all machines or on this one, until a person resumes.
//   - [Config].DryRun: decisions are made and recorded, and no action is carried out.
//
// If a mailbox was removed and came back, mail that it had sent ([Config].Sent) is not sent again without a person. If an action
// would send nothing else and needs no approval, Record cancels it; it then counts toward no cap or breaker.
//
// What would be refused when it is carried out, whoever approves it ([Config].Refusals), is canceled or failed when it is decided, with the
// reason, and nobody is asked; it counts for no cap or breaker either. Approve asks once more: a mailbox may have lost a permission.
//
// What must wait is not changed: Start returns a [*postroom.HeldError], and the job is put off without spending an attempt. A job
// that is put off so again and again, with growing waits, lasts more than a year with the queue's default budget. It looks every 15 minutes at
// the most, after a day every hour, and after two weeks every day; a host that stops for so long pauses the jobs' types besides, so that
// they go on at once.
//
// # Signatures
//
// A request for approval and an approval are signed, with an HMAC-SHA256 with [Config].Key. The signature covers what is executed
// and what people are shown of it: the action's account, message, kind and parameters, the hash of the content that it sends, and
// the whole decision, which includes the provider's id of the message, the sender and the subject. The signature of an approval
// also covers the approver and the time. So an approval is for what the person was shown, and is used once:
//
//   - Approve and Renew refuse a request whose action, decision or reasons were altered ([ErrAltered]). It can only be rejected.
//   - Start refuses an action that is not what was decided, or not what a person has approved. It has failed, with the reason.
//   - Hold refuses such an action as well, because a new request would sign it.
//   - If an approval was not used in time, or was signed with an unknown key, a person is asked again.
//   - Announce records an irreversible step with the action, before the job takes it. Start returns the announcement to the next
//     attempt, which therefore does not repeat the step. Announce refuses a job whose content differs from the action's.
//   - Permit returns what permits an action. Before package gmail starts an irreversible action that no person has approved, it
//     decides again about the message at Gmail.
//   - [Config].OldKeys verify what they signed before another key took their place, and sign nothing.
//
// [Ledger.CheckRequest] checks that what is shown is what was asked. The job that executes an action must change the message with
// [postroom.Action].ProviderMessageID and no other.
//
// Of two answers the first stands. The other returns a [*StateError] with the answer that was given.
//
// Who can write to the database or read the key is trusted. The signatures detect faults and rows that were altered by accident.
//
// # The ledger
//
// A [Ledger] stores decisions, the actions that they led to, the links between undos and the actions that they undo, the turns of
// each message, the requests for approval, the key of the signatures, the stop switch, the breakers and the events of both. It
// also has a row for each account, which is locked while actions without a person are counted. All its writing methods
// take the caller's transaction, so that a decision, its action and the job that follows are written together or not at all.
//
//	              ┌──────────── Hold ───────────┐
//	              ▼                             │
//	Record → pending_approval ── Approve ──→ queued ── Start ──→ executing ── Complete ──→ completed
//	              │                             │                    │
//	              ├── Cancel → canceled ←───────┼────────────────────┤
//	              └── Reject → rejected ←───────┤                    │
//	                          (not if approved) └── Fail → failed ←──┘
//
// Who may write what:
//
//   - Record and Refuse belong to the job that decides: classify. They are idempotent by message and decision key, so a job that
//     runs again after a crash records nothing twice.
//   - Approve, Reject and Renew belong to people. Each request is answered once, before its expiry, by someone on the list of
//     approvers if there is one, and only if the action is still what the request was made for.
//   - SetContent belongs to the code that composes what an action sends. From then on an approval names the hash of
//     the bytes.
//   - Start, Announce, Complete, Fail and SetReport belong to the job that executes. Start ties the action to the job: the same
//     job may start it again, no other can. If that job ends without it, the next job of the message completes or fails it.
//   - StartWakeUp, CompleteWakeUp and StopWakeUp belong to the job that wakes a snoozed message.
//   - Cancel belongs to the host.
//
// One action of a message executes at a time, undos included: Start and StartUndo return a [*postroom.BusyError] while another
// does. [Ledger.History] lists the completed ones in their order. The wake-up of a snooze takes a turn among them, and is recorded
// with the completed snooze, which is the only change of an action that has ended.
//
// Each change is one compare-and-set statement. Of two concurrent changes one wins; the other returns a [*StateError] with the
// state that won, and has written nothing.
//
// # The audit log and the checkpoint
//
// With [Config].Audit, each decision, each change of an action, each request and answer, each request of an undo and each event is
// also in an audit log, a chain of hashes (package audit). [Ledger.VerifyAudit] returns the rows and entries that were altered,
// removed, added or put back. Who can write to the database can write another log, and only an [audit.Head] that is kept elsewhere
// shows that.
//
// With [Config].Checkpoint, the ledger remembers outside of the database how far it has come, and each start of an action that
// cannot be undone. A database that is behind that was put back ([ErrRestored]): no action and no undo starts, and no request is
// answered, until [Ledger.AcceptRestore]. Afterwards a person is asked again about actions that were approved before, and about
// those that cannot be undone. [Ledger.Remember] says what is remembered when.
//
// # Failures
//
// A crash before the commit leaves no trace: the job runs again. After a crash after the commit, the ledger is correct and the
// job can ask it: Record returns the action of the first decision, Start returns the action that the job has already started, and
// any other change that has happened returns its state. If a job has ended without a result, its action stays executing; the
// JobID of its owner says which job to ask, and the next action of the message gives it up. The turn of a wake-up whose job has
// ended is given up in the same way, by Fail of the snooze, which stays completed. A failed undo is void: it stays on
// record, and the original can be undone again.
package safety
