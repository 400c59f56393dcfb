// Package ruleschat lets a person and a language model write rules together. The person describes in their own words
// how to handle mail, the model answers and proposes rules, and the person accepts them or asks for changes.
//
// # Proposals
//
// [Chat.Begin] begins a session. [Chat.Say] stores the person's message, and sends it to the model with the rules in
// use, the labels, the form of a rules file, and the earlier messages of the session. The model may answer in words,
// or call a tool with rules to add or replace, and names of rules to remove. The proposal is tried at once:
// [rulesfile.File.Revise] makes a file of it, which must be valid, and whose own tests must pass. A faulty proposal
// is sent back to the model with its faults, up to twice. The person sees the resulting file.
//
// A proposal changes no rule until a person calls [Chat.Accept] and names the message whose proposal they have seen.
// Accept returns the file with the proposal, which the host stores in the same transaction, as with
// rulestore.Store.ImportFile. A host that keeps rules in a file takes rulestore.Store.Lock first, reads the file
// after it, and writes it last: if it is killed in between, repeating the acceptance completes it. [Chat.Prune]
// deletes old sessions.
//
// # Limits of the model
//
// The model sees no mail, so that authors of mail cannot influence it. A rule that it proposes cannot have safe_mode
// dangerous_override: a dangerous action of such a rule waits for a person. It cannot name files with values for
// rules, change tests, or hide characters in names. A proposal is refused if the rules have changed since, or if it
// was altered since it was shown.
//
// The tables rules_chat_sessions and rules_chat_messages store sessions and messages.
package ruleschat
