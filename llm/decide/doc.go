// Package decide decides by a language model about mail that none of the user's rules matches.
//
// For a message, a [Decider] gets the user's [Guidance], builds the prompt, calls the client of package llm, reads the
// answer with [Parse] and checks it against the offered actions and labels. It returns an unusable answer to the model,
// with the fault, up to twice; then the decision is none and needs approval.
//
// Two features save calls. With Config.Escalation a cheap model is asked first, and a better one if the first is not
// sure. With [Templates] the decision about a mail that a program made is reused for mail of the same template and
// authenticated sender, if it can be undone.
//
// The decision is a proposal. Package safety decides whether it is carried out or needs a person's approval, whatever
// the model says.
//
// # The prompt
//
// A system message has the rules of the conversation, one user message the sections DIRECTIONS, LLM RULE (one each),
// EARLIER MAIL, MESSAGE CONTEXT, AVAILABLE LABELS and TASK, joined by blank lines; empty ones are omitted. Of the mail it shows
// addresses, the subject (500 characters), a few header fields, the names of attachments and the body (8,000
// characters; what a person sees of the HTML, or the plain text if there is no HTML or it shows no text). Text that
// styles hide from a person is omitted, and the prompt and the decision say so; a plain text that differs from the HTML
// is omitted in the same way.
//
// All of that was written by a stranger. The prompt omits characters that a person would not see, cuts the text to
// length, and encloses it between two lines with a mark that is random for each prompt and that the text cannot
// contain.
//
// With [Config].Examples, EARLIER MAIL shows at most ten corrections of decisions about earlier mail of the same sender:
// what was decided, what the person made of it, and 80 characters of the subject, enclosed as the message is. A new
// correction is a new prompt, so that no decision of a template is reused from before it.
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
//
// In the same call a host may ask whether the mail needs an answer ([Config].AsksReply, the argument reply) and for
// facts about it ([Config].Question, the argument enrichment). What is wrong with these is no fault of the decision.
// For mail that rules decide about, [Decider.Ask] asks for the facts alone.
package decide
