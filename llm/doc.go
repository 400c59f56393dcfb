// Package llm lets a language model decide about mail that no rule of the user's has matched.
//
// # The way of a decision
//
// A [Decider] is given a message. It gets the [Guidance] that the user has written for it, builds the prompt, asks the
// [Client], reads the answer with [ParseDecision] and holds it against what was offered: the actions, the labels. An
// answer that cannot be used goes back to the model with what was wrong, twice; then the decision is none, for a person
// to look at. A failure of the provider is returned as the verdict that the job queue understands ([Verdict]): a rate
// limit defers the job, a wrong key ends it, anything else is tried again.
//
// The decision is a proposal. Whether it may be carried out, or needs a person, is decided elsewhere, whatever the model
// has said.
//
// # The prompt
//
// A system message holds the rules of the conversation, one user message the sections DIRECTIONS, LLM RULE (one each),
// MESSAGE CONTEXT, AVAILABLE LABELS and TASK, joined by blank lines; empty ones are left out. Of the mail it shows
// addresses, the subject (500 characters), a few header fields, the names of attachments and the body (8,000 characters;
// the plain text, else what [Config].HTMLText makes of the HTML).
//
// All of that was written by a stranger. Characters that a person would not see are left out, the text is cut to length,
// and then put between two lines with a mark that is random for each prompt and that the text cannot contain.
//
// # The contract
//
// The model answers by one call of the tool record_decision with
//
//	decision      action, parameters, confidence (0 to 1), needs_approval, rationale
//	explanations  salient_features, matched_directions, considered_alternatives (action, confidence, why_not)
//	undo_hint     inverse_action, inverse_parameters
//
// or, if it calls no tool, by the same JSON in its text. Which message is decided about is never asked of the model.
package llm
