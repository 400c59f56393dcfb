// Package safety decides which actions need a person's approval, and records decisions, actions and approvals.
//
// # The gate
//
// A [Gate] checks each decision: whether the action is dangerous; the confidence is below the threshold; the action always
// needs approval; the decision requests approval; there are further doubts. Any one of them makes the action wait for a person,
// and the reasons are recorded with the decision. Only a rule of the user's with a safe mode releases a check; see
// [Gate.Judge]. No answer of a model does, so a model that obeys the mail instead of its user gets no further than a request
// for approval.
//
// # Who decided
//
// The program that asks a decider says who it was: package rules stamps the answer of a model as a model's, whatever the
// answer says. The ledger does not take the word of a decision about its rule either. It looks the rule up in
// [Config].Rules, in the transaction that records the decision: the rule must be stored, enabled, and at the version that
// matched, and must say this action with these parameters. Its safe mode is that of the store. Otherwise a person is asked.
//
// A store that calls [Ledger.LogRules] with each change has its rules in the log. Then the rule must also be as the log last said: a row
// that was added, altered, enabled or put back by something without the key decides nothing without a person, at the cost of one
// statement for each decision of a rule. [Ledger.AdoptRules] takes in the rules of before, once.
//
// # What a model does alone
//
// A model's decision leads to no action without a person but those of [Policy].ModelAlone, which by default leave the message in
// the mailbox and are undone exactly. It does not archive, throw away or take out of spam under the name of a label. All
// that models take out of the inbox of an account within a day is bounded by [Policy].ModelShare. A model decides alone about
// no message with a sign of an attack; see [Signs].
//
// A recipient that only the model names needs a person, and so does a label that the account does not have or keeps from models;
// see Recipients of [Policy] and Labels of [Config].
//
// # How much is done
//
// What nobody stands behind at the time is bounded by what nobody can talk out of it:
//
//   - [Cap]: so many actions of a kind, a source and a time without a person. What is beyond waits for one.
//   - [Breaker]: rules or models that do, fail or have undone an unusual number are stopped, and a person is told once.
//   - [Quiet]: hours in which all but what is listed waits until they end.
//   - [Ledger.Stop], [Config].StopFile: nothing starts, on all machines or on this one, until a person resumes.
//   - [Config].DryRun: everything is decided and recorded, and nothing carried out.
//
// What a mailbox had sent before it was removed and came back ([Config].Sent) is not sent again without a person: where nothing else
// would be sent, and nobody needs to be asked, Record cancels the action, which then counts for no cap or breaker.
//
// What must wait is not changed: Start returns a [*postroom.HeldError], and the job is put off without spending an attempt. A job
// that is put off so again and again, with growing waits, lasts more than a year with the queue's default budget. It looks every 15 minutes at
// the most, after a day every hour, and after two weeks every day; a host that stops for so long pauses the jobs' types besides, so that
// they go on at once.
//
// # What is permitted
//
// Two signatures stand for an action, both an HMAC-SHA256 with [Config].Key. The seal is over what is executed and what people are
// shown of it: the action's account, message, kind and parameters, the hash of what it sends, and the whole of its decision, which has
// the provider's id of the message, the sender and the subject. The gate seals what it lets pass. Approve seals what a person
// approves, together with the request, the approver, the times and the expiry; the request itself is signed when it is made. The log
// says how far the action has come: each change adds an entry, which signs the whole row with its state, its job, its turn and what
// it undoes. Nothing follows but from a row that is what its last entry has signed, and whose seal fits:
//
//   - Start executes nothing else, and goes on with nothing else. What was altered, forged, copied from another action, or put back as
//     it was once, has failed, with the reason. So an approval is used once; see The log for what becomes of it when the log is cut.
//   - Approve answers no request that has been answered, and that waits again because somebody wrote so.
//   - Complete cannot refuse what its job has done. If the row was altered meanwhile, the log says so, and signs nothing.
//   - StartUndo undoes, and History goes by, what the log says was done, in the order in which it was done; and nothing is undone twice,
//     unless the entries about the undo are altered as well, which VerifyAudit finds. It undoes what RequestUndo has signed for its job, once.
//   - Announce signs, with the action and before it is done, what a job cannot take back. The next attempt gets it from Start, and so does not
//     do it again. It is refused to a job that has another content than the action.
//   - Permit says what an action rests on. Package gmail decides by it again, about the message as Gmail has it, before it starts what cannot be
//     taken back and no person has approved: what is recorded here was decided about a message that is stored.
//   - Hold and Renew refuse what was altered, which a new request would sign.
//   - Entries can be removed, or altered so that they seem to be about something else. Before a request is shown as genuine, answered
//     or renewed, before something is composed, and before what a person has approved or what cannot be taken back starts or goes on, the
//     log must be whole from the last change of the action on. Otherwise the request can only be rejected, a person is asked again, and
//     what was begun has failed.
//   - What is signed is the row that was read, with what the ledger has made of it. If the database stores something else, by a trigger or
//     because another transaction came between, nothing is written.
//   - An approval that was not used in time asks a person again, and so does what has no signature of a known key, if the log vouches
//     for its decision. What nothing vouches for has failed: a person would be shown what nobody has decided.
//   - [Config].OldKeys check what they had signed when another key took their place, and permit nothing after that. The first entry of
//     a new key says where the log was. End all programs that have the old key before a new one begins: what they do later counts
//     as altered. A key that was replaced does not come back: take a new one.
//
// [Ledger.CheckRequest] says whether what is shown is what was asked. Whoever executes an action changes the message with [postroom.Action].ProviderMessageID, and no other.
//
// Of two answers the first stands. The other is a [*StateError] with the answer that was given.
//
// # The ledger
//
// A [Ledger] keeps decisions, the actions they led to, the links between actions (an undo and what it takes back), whose turn it is
// at each message, the requests for approval, the key of the seals, a row for each account that is locked while what was done without
// a person is counted, the switch that stops everything, the breakers, the events of both, and the log. All its writing methods take the caller's transaction, so that a decision, its action
// and the job that follows are there together or not at all.
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
//   - Record and Refuse belong to the job that decides: classify. They are idempotent by message and decision key, so a
//     job that runs again after a crash records nothing twice.
//   - Approve, Reject and Renew belong to people. Each request is answered once, before its expiry, by someone on the list
//     of approvers if there is one, and only if the action is still what the request was made for.
//   - SetContent belongs to whoever composes what an action sends, of what Vouched returns: an approval then names the hash of the bytes.
//   - Start, Announce, Complete, Fail and SetReport belong to the job that executes. Start ties the action to the job: the same job
//     may start it again, no other can.
//   - Cancel belongs to the host.
//
// One action of a message executes at a time, undos included: Start and StartUndo return a [*postroom.BusyError] while another
// does. [Ledger.History] lists the completed ones in their order.
//
// Each change is one statement that compares and sets. Of two that come at once one wins; the other gets a [*StateError]
// with the state that won, and has written nothing.
//
// # The log
//
// Each row that is written of decisions, actions, the links of undos, approvals, breakers, events and reports, and each change of a rule that [Config].RuleStores hold, is in a log besides, which is a chain of signatures with
// [Config].Key: [Ledger.VerifyAudit] finds what was altered, removed, added or put back since, and [Ledger.EachAuditEntry] reads the
// log. What is found to be altered when an action is refused, rejected, canceled or fails is logged as well, since the entry about that end
// says the same as the row. On PostgreSQL there are several chains, of which a transaction takes one that no other holds, so that the log makes no
// transaction wait. Who has the key can write another log. Who has not can put the database back as it was, or the end of the log with the
// rows that it is about, and with them an approval that had not been used then. Nothing in the database tells that from a log that has never
// gone further. So a ledger remembers how far each chain went when it was last seen, and how often each rule was put on record, in memory and
// in [Config].SeenFile: what people have answered, what becomes of an action that cannot be taken back and how rules are changed, from the commit of its
// own transaction on, and the rest at each [Ledger.Remember]. A log that does not
// come after all that was seen is cut ([ErrLogCut]): nothing starts that a person has approved or that cannot be taken back, and nobody is
// asked, until [Ledger.AcceptLog]; what else there is waits as well where a look at the chain that it adds to tells. VerifyAudit compares the
// log with what was seen, and with an [AuditHead] that is kept elsewhere.
//
// # When something fails
//
// A crash before the commit leaves no trace: the job runs again. A crash after it leaves the ledger right and the job free to
// find out: Record returns the action of the first decision, Start returns the action that is already its own, and any change
// that has happened answers with its state. An executing action whose job has ended without a word stays executing; its
// owner's JobID says which job to ask, and the next action of the message gives it up. An undo that fails is void: it stays on record, and what it was to take back can be
// undone again.
package safety
