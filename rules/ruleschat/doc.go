// Package ruleschat lets a person and a language model write rules together: the person says in their own words what should be done
// with mail, the model answers and proposes rules, and the person accepts them or says what is wrong.
//
// # The way of a proposal
//
// [Chat.Begin] begins a session. [Chat.Say] stores what the person says, and asks the model with the rules in use, the labels, the form
// of a rules file, and what was said before in the session. The model may answer in words, or call a tool with rules to add or
// replace, and names of rules to remove. The proposal is tried at once: [rules.File.Revise] makes a file of it, which must be
// valid, and whose own tests must pass. A faulty one goes back to the model, with the faults, up to twice. What is left is shown to the
// person: the file as it would be.
//
// Nothing of that changes a rule. [Chat.Accept] does, for a person who names the message whose proposal they have seen: it returns the
// file with the proposal, which the host stores in the same transaction, as with [rules.Store.ImportFile]. A host that keeps rules in a
// file takes [rules.Store.Lock] first, reads the file after it, and writes it last: what is killed in between is ended by the same
// acceptance. [Chat.Prune] deletes old sessions.
//
// # What a model cannot do here
//
// No mail is shown to the model, so that nobody who writes mail can speak to it. A rule that it proposes cannot have
// safe_mode dangerous_override: what is dangerous waits for a person also where such a rule decides. It names no files whose values
// the rules take, changes no tests, and hides no characters in names. A proposal that was made for rules that have changed since, or
// was altered since it was shown, is refused.
//
// Sessions and messages are kept in two tables, rules_chat_sessions and rules_chat_messages.
package ruleschat
