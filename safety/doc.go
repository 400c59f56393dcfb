// Package safety decides which actions need a person's approval, and records decisions, actions and approvals.
//
// # The gate
//
// A [gate.Gate] checks each decision. An action waits for a person if it is dangerous; if the confidence is below the
// threshold; if the action always needs approval; if the decision requests approval; or if there are further doubts.
// The reasons are recorded with the decision. Only a rule of the user with a safe mode releases a check; see
// [gate.Gate.Judge]. No answer of a model releases a check, so a model that obeys the mail instead of its user
// achieves no more than a request for approval.
//
// # Who decided
//
// The program that asks a decider records the source of the decision: package rules marks the answer of a model as a
// model's, whatever the answer says. What a host decides on its own account has a source of its own,
// [postroom.SourceHost]: no safe mode, share or breaker is about it, and all other checks are. The ledger also does
// not trust what a decision says about its rule. It looks up the rule in [Config].Rules, in the transaction that
// records the decision. The rule must be stored, enabled and at the version that matched, and must specify this
// action with these parameters. Its safe mode is read from the store. Otherwise a person is asked.
//
// # What a model does alone
//
// Without a person, a model's decision leads only to the actions in [gate.Policy].ModelUnattended. By default these
// leave the message in the mailbox and can be undone exactly, at any time: trash is not among them. A model does not
// snooze for more than two weeks, nor hide (archive, move, snooze or mark as read) what a program has sent to its
// user, unless a list sent it: authenticated notices of banks, of accounts and about security are such mail. A model
// cannot archive, trash or unspam a message by adding or removing a system label. [gate.Policy].ModelShare limits how
// many messages of an account models take out of the inbox within a day; package origin says whose mail counts. A
// model decides alone about no message with an indicator of an attack. That is a hint, and no bound: see package
// injection. A model's decision to do nothing asks nobody. What the user has forbidden to models ([Config].Forbids) is
// recorded as canceled, and nobody is asked.
//
// A recipient that only the model or the sender names needs a person, and so does a label that the account does not
// have or keeps from models; see Recipients of [gate.Policy] and Labels of [Config].
//
// # Limits
//
// These limits hold whatever a decision or the text of a message says:
//
//   - [limits.Cap]: a number of actions of a kind, a source and a period without a person. An action beyond the cap
//     waits for a person.
//   - [limits.Breaker]: rules or models are stopped if they carry out, fail or have undone too many actions. Notify is
//     called once.
//   - [Config].Drifts: rules and models that people have corrected too often ask about each decision, until a person
//     says that they are right again.
//   - [limits.Quiet]: hours in which all actions except those listed wait until the hours end.
//   - [stop.Switch], [Config].StopFile: no action starts, on all machines or on this one, until a person resumes.
//   - [Config].DryRun: decisions are made and recorded, and no action is carried out. A pipeline rolls the
//     records back.
//
// If a mailbox was removed and came back, mail that it had sent ([Config].Sent) is not sent again without a person.
// If an action would send nothing else and needs no approval, Record cancels it; it then counts toward no cap or
// breaker.
//
// What would be refused when it is carried out, whoever approves it ([Config].Refusals), is canceled or failed when
// it is decided, with the reason, and nobody is asked; it counts for no cap or breaker either. Approve asks once
// more: a mailbox may have lost a permission.
//
// What must wait is not changed: Start returns a [*postroom.HeldError], and the job is put off without spending an
// attempt. A job that is put off so again and again, with growing waits, lasts more than a year with the queue's
// default budget. It looks every 15 minutes at the most, after a day every hour, and after two weeks every day; a
// host that stops for so long pauses the jobs' types besides, so that they go on at once.
//
// # Approvals
//
// A request for approval is signed when it is made, and an approval when it is given: an HMAC-SHA256 with
// [Config].Key over everything that is executed and everything that the person was shown. That is the action with its
// message, its kind and its parameters, the hash of what it sends, the decision with the sender and the subject, the
// reasons and the times, and in an approval the approver. What an action sends is composed before a person is asked,
// from the action that [Ledger.Verified] returns, and [Ledger.SetContent] names its hash. A person may edit it before
// answering: an [Editor] ends the request and makes one about the new hash, which is approved like any other. The audit
// log says who has edited, and the hash before.
//
// The signature is verified when the request is answered, and again in the transaction in which the action starts. An
// action whose decision asked for a person does not start without such an approval, whatever the state of its row
// says, and an approval is used by one job. What was altered, forged or used fails with the reason. What has expired,
// or was signed with a key that is not known, is asked again. [Config].OldKeys verify what they signed, and sign
// nothing.
//
// Requests that belong together are one notification: those beyond the share of models, those about notices, and,
// after the third of a day, those that a cap or a breaker holds and those of models about the mail of one sender.
// [Config].Ask is called for the first of such a group, [Config].Joined when another joins it, and a [Filter] lists it.
// Each request keeps its own signature and answer. Models cause at most 50 of a kind within a day; what they decide
// beyond is canceled, and one event a day ([events.NotAsked]) says so. Where many senders share a kind, because their
// domain gives mailboxes to everybody or nothing is verified, each address has these 50, and all together have 200;
// beyond them people are asked about the first three of another address, up to 300 in all, and about senders that the
// user has written to ([Config].Correspondents), up to 400.
//
// Of two answers the first stands. The other returns a [*StateError] with the answer that was given.
//
// # The ledger
//
// A [Ledger] stores decisions, the actions that they led to, the links between undos and the actions that they undo,
// the lock of each message, and the requests for approval. All its writing methods take the caller's transaction, so
// that a decision, its action and the job that follows are written together or not at all.
//
// The rows of what limits all actions belong to packages that do not know the ledger. [Ledger.Switch] is the stop of
// package stop, and [Ledger.Breakers] the breakers of package limits, which also has the caps and the quiet hours. Both
// add to the record of package events, which [Ledger.Events] returns. Package checkpoint notices a restored backup, and
// [Ledger.Activity] counts what was decided, done, answered and undone.
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
//   - Record and Refuse belong to what decides: ingest and classify, rules that are applied to stored mail, and hosts.
//     They are idempotent by message and decision key, so a job that runs again after a crash records nothing twice.
//     Record returns an action as pending_approval, as queued, or ended at once if nothing is left to do.
//   - Approve and Reject belong to people, and Renew, which asks again, to whoever may ask. Each request is answered
//     once, before its expiry, by someone on the list of approvers if there is one, and only if the action is still
//     what the request was made for.
//   - SetContent belongs to the code that composes what an action sends, and [Editor.Edit] to people.
//   - Start, DeclareIntent, Complete, Fail and SetReport belong to the job that executes. Start ties the action to
//     the job: the same job may start it again, no other can. If that job ends without it, the next job of the
//     message completes or fails it.
//   - StartWakeUp, CompleteWakeUp and StopWakeUp belong to the job that wakes a snoozed message.
//   - StartUndo and RequestUndo belong to package undo, and Hold, which gives a queued action back to a person, to the
//     job that executes.
//   - Cancel belongs to the host, and to the jobs that find an action pointless.
//
// One action of a message executes at a time, undos included: Start and StartUndo return a [*postroom.BusyError]
// while another does. [Ledger.History] lists the completed ones in their order. The wake-up of a snooze takes the
// lock of the message as well, and is recorded with the completed snooze, which is the only change of an action that
// has ended.
//
// [WakeUps] are the part of the ledger for snoozed messages.
//
// Each change is one compare-and-set statement. Of two concurrent changes one wins; the other returns a [*StateError]
// with the state that won, and has written nothing.
//
// # The second look
//
// Between a decision and its execution the rules and the message may change. Before package gmail starts an action
// that cannot be undone and that no person has approved, it therefore asks the rules of now about the message as
// Gmail has it; [Ledger.Permit] returns what was decided. If the answer differs, the action waits for a person.
//
// # The audit log
//
// With [Config].Audit, each decision, approval, start of what cannot be undone, completion and event adds an entry to
// one chain of hashes, which package audit describes. [Ledger.VerifyAudit] compares the ledger with it, and finds
// what was altered, removed, added or put back. Who can write to the database can write another log; only an end of
// the log that is kept elsewhere shows that.
//
// # A restored backup
//
// With [Config].Checkpoint, the ledger remembers outside of the database how far it has come, and each start of an
// action that cannot be undone, before its job goes on. If the database is behind that when the program begins, it
// was put back ([checkpoint.ErrRestored]): no action and no undo starts, and no request can be answered, until
// [Ledger.AcceptRestore]. Afterwards what may have been carried out before waits for a person again.
//
// # Failures
//
// A crash before the commit leaves no trace: the job runs again. After a crash after the commit, the ledger is
// correct and the job can ask it: Record returns the action of the first decision, Start returns the action that the
// job has already started, and any other change that has happened returns its state. If a job has ended without a
// result, its action stays executing; the JobID of its owner says which job to ask, and the next action of the
// message gives it up. The lock of a wake-up whose job has ended is given up in the same way, by Fail of the snooze,
// which stays completed. A failed undo is void: it stays on record, and the original can be undone again.
package safety
