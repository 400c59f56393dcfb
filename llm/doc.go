// Package llm decides by a language model about mail that none of the user's rules matches.
//
// # Clients
//
// A [Client] calls one model of one provider: with tools, a form of the text, or a stream, and it counts the tokens. Packages
// llm/openai (for all servers with chat completions), llm/anthropic and llm/gemini have one each, so that a program links only
// the SDKs it uses. A client neither retries nor waits. Wrapping clients do, each for one purpose:
//
//	Retrying   sends a request again after a failure that passes within seconds
//	Limited    keeps rate limits, the host's and those that the provider reports
//	Metered    puts each call on record, keeps budgets, and gives a kept answer to an equal request
//	Fallback   asks the next client when one fails
//
// A failure is an [*Error]: the provider's message, one of the reasons ErrRateLimited, ErrOverloaded and so on, and a hint for
// people. Keys are in no error and no log. [Verdict] translates it for the job queue: a rate limit, a spent budget and a refused
// key defer the job, a permanently wrong request ends it, any other failure is retried.
//
// # Records
//
// [Records] store, in the tables llm_calls, llm_spend and llm_answers, each call with its tokens, cost, latency and trace, the
// spending of each day, and for a day the answers, unless an [AnswerCache] such as package llm/rediscache does. The answer of a
// call is stored before its caller sees it, so that a job that fails later does not ask again. An [Outage] is a model that is not
// asked until a person acts or a day ends.
//
// # Decisions
//
// For a message, a [Decider] gets the user's [Guidance], builds the prompt, calls the [Client], reads the answer with
// [ParseDecision] and checks it against the offered actions and labels. It returns an unusable answer to the model, with the
// fault, up to twice; then the decision is none and needs approval.
//
// The [Guidance] is what the user wants: a [GuidanceStore] keeps directions and rules with scopes, in the tables directions and
// llm_rules. An answer that a direction plainly forbids is faulty; one that it may forbid needs approval.
//
// Two features save calls. With Config.Better a cheap model is asked first, and a better one if the first is not sure. With
// [Templates] the decision about a mail that a program made is reused for mail of the same template and authenticated sender, if
// it can be undone.
//
// The decision is a proposal. Package safety decides whether it is carried out or needs a person's approval, whatever the model
// says.
//
// # The prompt
//
// A system message has the rules of the conversation, one user message the sections DIRECTIONS, LLM RULE (one each), MESSAGE
// CONTEXT, AVAILABLE LABELS and TASK, joined by blank lines; empty ones are omitted. Of the mail it shows addresses, the subject
// (500 characters), a few header fields, the names of attachments and the body (8,000 characters; what a person sees of the HTML,
// or the plain text if there is no HTML or it shows no text). Text that styles hide from a person is omitted, and the prompt and
// the decision say so; a plain text that differs from the HTML is omitted in the same way.
//
// All of that was written by a stranger. The prompt omits characters that a person would not see, cuts the text to length, and
// encloses it between two lines with a mark that is random for each prompt and that the text cannot contain.
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
