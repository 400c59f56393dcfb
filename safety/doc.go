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
// A store that calls [Ledger.LogRules] with each change has its rules in the audit log. Then the rule must also match its last
// entry in the audit log: if a row was added, altered, enabled or put back without the key, the rule decides nothing without a
// person. The check costs one statement for each decision of a rule. [Ledger.AdoptRules] adds the rules that were stored before,
// once.
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
// Two signatures protect an action. Both are an HMAC-SHA256 with [Config].Key.
//
// The seal covers what is executed and what people are shown of it: the action's account, message, kind and parameters, the hash
// of the content that it sends, and the whole decision, which includes the provider's id of the message, the sender and the
// subject. The gate seals each action that it lets pass. Approve seals each action that a person approves, together with the
// request, the approver, the times and the expiry. The request itself is signed when it is made.
//
// The audit log records the progress of the action. Each change adds an entry, which signs the whole row with its state, its job,
// its turn and the action that it undoes. The ledger continues only from a row that matches its last entry and its seal:
//
//   - Start executes and continues no other action. An action that was altered, forged, copied from another, or put back has
//     failed, with the reason. So an approval is used once; see The audit log about an audit log that was cut.
//   - Approve does not answer a request that was answered and that waits again because its row was altered.
//   - Complete cannot refuse what its job has done. If the row was altered meanwhile, the audit log records that and signs
//     nothing.
//   - StartUndo and History use what the audit log says was done, in the order in which it was done. Nothing is undone twice,
//     unless the entries about the undo are altered as well, which VerifyAudit finds. StartUndo undoes what RequestUndo has signed
//     for its job, once.
//   - Announce signs an irreversible step with the action, before the job takes it. Start returns the announcement to the next
//     attempt, which therefore does not repeat the step. Announce refuses a job whose content differs from the action's.
//   - Permit returns what permits an action. What the ledger records was decided about a stored message, which is not signed. So
//     before package gmail starts an irreversible action that no person has approved, it decides again about the message at Gmail.
//   - Hold and Renew refuse an altered action, because a new request would sign it.
//   - Entries can be removed, or altered so that they seem to be about something else. So the audit log must be whole from the
//     last change of the action on: before a request is shown as genuine, answered or renewed, before content is composed, and
//     before an action that a person has approved or that cannot be undone starts or continues. Otherwise the request can only be
//     rejected, a person is asked again, and an action that had started has failed.
//   - The signature covers the row that was read, with the ledger's change. If the database stores another row, because of a
//     trigger or a concurrent transaction, nothing is written.
//   - If an approval was not used in time, or an action has no signature of a known key, a person is asked again, provided that
//     the audit log verifies its decision. An action whose decision cannot be verified has failed: a person would be shown
//     something that was not decided.
//   - [Config].OldKeys verify what they signed before another key took their place, and permit nothing later. The first entry of
//     a new key names the ends that the chains had then. End all programs that have the old key before a new one begins: what
//     they write later counts as altered. Do not reuse a replaced key.
//
// [Ledger.CheckRequest] checks that what is shown is what was asked. The job that executes an action must change the message with
// [postroom.Action].ProviderMessageID and no other.
//
// Of two answers the first stands. The other returns a [*StateError] with the answer that was given.
//
// # The ledger
//
// A [Ledger] stores decisions, the actions that they led to, the links between undos and the actions that they undo, the turns of
// each message, the requests for approval, the key of the seals, the stop switch, the breakers, the events of both, and the audit
// log. It also has a row for each account, which is locked while actions without a person are counted. All its writing methods
// take the caller's transaction, so that a decision, its action and the job that follows are written together or not at all.
//
//	              ┌──────────── Hold ───────────┐
//	              ▼                             │
//	Record → approved_pending ── Approve ──→ queued ── Start ──→ executing ── Complete ──→ completed
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
//   - SetContent belongs to the code that composes what an action sends, from the action that Vouched returns. From then on an
//     approval names the hash of the bytes.
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
// # The audit log
//
// Each row that is written of decisions, actions, the links of undos, approvals, breakers, events and reports, and each change of a rule that [Config].RuleStores hold, is in a log besides, which is a chain of signatures with
// [Config].Key: [Ledger.VerifyAudit] finds what was altered, removed, added or put back since, and [Ledger.EachAuditEntry] reads the
// log. What is found to be altered when an action is refused, rejected, canceled or fails is logged as well, since the entry about that end
// says the same as the row. On PostgreSQL there are several chains, of which a transaction takes one that no other holds, so that the log makes no
// transaction wait. Who has the key can write another log. Who has not can put the database back as it was, or the end of the log with the
// rows that it is about, and with them an approval that had not been used then. Nothing in the database tells that from a log that has never
// gone further. So a ledger remembers how far each chain went when it was last seen, how often each rule was put on record, and which actions
// people have rejected, the newest 10,000 of them, in memory and in [Config].SeenFile: what people have answered, what becomes of an action
// that cannot be taken back and how rules are changed, from the commit of its own transaction on, and the rest at each [Ledger.Remember]. What a
// person was seen to reject does not start, whatever the rows and the log say then. A log that does not
// come after all that was seen is cut ([ErrLogCut]): nothing starts that a person has approved or that cannot be taken back, and nobody is
// asked, until [Ledger.AcceptLog]; what else there is waits as well where a look at the chain that it adds to tells, or Remember has found it. VerifyAudit compares the
// log with what was seen, and with an [AuditHead] that is kept elsewhere.
//
// Anyone with the key can write another audit log. Without the key, an attacker can put the database back, or the end of the
// audit log with the rows that it covers, and so an approval that had not been used then. The database alone cannot distinguish
// that from an audit log that never went further. So a ledger remembers how far it has seen each chain, and how many entries each
// rule has, in memory and in [Config].SeenFile. It remembers people's answers, the progress of actions that cannot be undone, and
// changes of rules from the commit of their own transaction on, and all else at each [Ledger.Remember].
//
// An audit log that does not continue all ends that were seen is cut ([ErrLogCut]). Until [Ledger.AcceptLog], no action starts
// that a person has approved or that cannot be undone, and nobody is asked. Other actions, and undos, wait as well if the chain that
// they add to shows that it was cut, or if Remember has found it. VerifyAudit compares the audit log with the ends that were seen,
// and with each [AuditHead] that is kept elsewhere.
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
