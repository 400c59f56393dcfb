// Package postroom defines the types that the mail packages of Postroom share: a [Message], its [Label]s, the
// [Decision] made about it, the [Action] that follows, and the [UndoHint] that undoes the action.
//
// # The way of a message
//
// A push or a schedule enqueues a history sync, which enqueues an ingest for each new message. The ingest stores the
// message and enqueues the classify job: a [Decider] of rules, else of a model, makes a [Decision]. The ledger of
// package safety judges and records it. What may be done at once becomes an [Action] with a job of its own; what a
// person has to approve waits for that first. The action's [UndoHint] is stored in the transaction that completes it.
//
// # Glossary
//
//   - action: one change of one message, such as a label that is added, with its state. See [Action].
//   - approval: the word of a person that one action may be carried out, bound to what is executed by a signature.
//   - audit log: the append-only record of what was decided, approved and done, a chain of hashes.
//   - breaker: stops a rule or a model that carries out, fails or has undone too much.
//   - cap: a number of actions of a kind that are carried out in a period without a person.
//   - checkpoint: a small file that remembers how far the database has come, so that a restored backup repeats nothing.
//   - decision: what a decider wants done with a message, and why. See [Decision].
//   - gate: judges a decision by the policy: carry out, ask a person, or refuse.
//   - injection indicator: a sign that the text of a mail gives orders to a machine.
//   - instruction: the text of a person that a model reads; what it forbids is enforced by the gate.
//   - intent: the record that an action which cannot be undone is about to be carried out.
//   - kind: what actions of a type need, how dangerous they are, and whether they can be undone. See [Kind].
//   - ledger: keeps decisions, requests, actions and their states.
//   - message lock: keeps the actions of one message from running beside each other.
//   - predicate: one test of a rule's condition, such as sender_domain.
//   - prefilter key: a word or domain that a message must have for a rule to match, by which rules are looked up.
//   - request: a question to a person about the actions of one decision.
//   - snapshot: the labels of a message at one time. See [Snapshot].
//   - stop: keeps everything that changes mailboxes from starting, until a person resumes it.
//   - unattended: carried out without a person having approved it.
//
// # Imports
//
// The package does no I/O and imports only the standard library. The packages rules, llm, safety, gmail and undo do
// not import each other, except that undo imports safety. Each declares what it needs of another as a small interface
// in terms of these types.
package postroom
