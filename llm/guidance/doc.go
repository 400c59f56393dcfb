// Package guidance keeps what the user wants of the model, in plain language: directions for all mail, and rules for the mail of an
// account, a domain or a sender.
//
// A [Store] keeps them in the tables directions and llm_rules, which Migrate of package llm creates, and finds those for a message.
package guidance
