// Package llm decides by a language model about mail that none of the user's rules matches.
//
// # The way of a decision
//
// For a message, a [Decider] gets the user's [Guidance], builds the prompt, calls the [Client], reads the answer with
// [ParseDecision] and checks it against the actions and labels that were offered. It returns an unusable answer to the
// model, with the fault, up to twice; then the decision is none and needs approval. [Verdict] turns a failure of the
// provider into what the job queue understands: a rate limit defers the job, a wrong key ends it, any other failure is
// retried.
//
// The decision is a proposal. Package safety decides whether it is carried out or needs a person's approval, whatever the
// model says.
//
// # The prompt
//
// A system message holds the rules of the conversation, one user message the sections DIRECTIONS, LLM RULE (one each),
// MESSAGE CONTEXT, AVAILABLE LABELS and TASK, joined by blank lines; empty ones are left out. Of the mail it shows
// addresses, the subject (500 characters), a few header fields, the names of attachments and the body (8,000 characters;
// the plain text, else what [Config].HTMLText makes of the HTML).
//
// All of that was written by a stranger. The prompt leaves out characters that a person would not see, cuts the text to
// length, and puts it between two lines with a mark that is random for each prompt and that the text cannot contain.
//
// # The contract
//
// The model answers by one call of the tool record_decision with
//
//	decision      action, parameters, confidence (0 to 1), needs_approval, rationale
//	explanations  salient_features, matched_directions, considered_alternatives (action, confidence, why_not)
//	undo_hint     inverse_action, inverse_parameters
//
// or, if it calls no tool, by the same JSON in its text. The answer does not name the message.
package llm
