// Package guidance keeps what the user wants of the model: instructions about all mail, the mail of a mailbox, a domain
// or a sender.
//
// An [Instruction] has a text and the kinds of actions that it forbids. The text is advice: the model reads it, and
// nothing checks that it does what the text says. What the instruction forbids is binding: decide.Decider of package
// llm/decide does not offer it to the model, and a safety.Ledger with Config.Forbids cancels a model's decision to do
// it, whatever the model says. Rules and people are not bound. The text of an instruction about a domain or a sender is
// about mail whose sender is verified, unless it is Unauthenticated: decide.Decider leaves it out otherwise.
//
// A [Store] keeps instructions in the table instructions, which [Migrate] creates, and finds those for a message. Its
// reading methods see committed data; its writing methods take the caller's transaction.
package guidance
