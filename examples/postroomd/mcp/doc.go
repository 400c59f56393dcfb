// Package mcp lets an assistant look at the mail of postroomd and propose what to do with it, by the Model Context
// Protocol (https://modelcontextprotocol.io).
//
// [NewServer] makes the server of one caller, which has a name. Its tools read the stored mail, the record of what was
// decided and done, the rules, and the requests that wait; one tool proposes actions, one drafts of
// answers, and one rules.
//
// # What an assistant cannot do
//
// There is no tool that sends, forwards, deletes for good, approves, rejects, undoes, stops, resumes or changes a
// setting. A proposal is recorded as the decision of a model, so the safety gate judges it as that of any model:
// limits, a person for what is dangerous, the instructions that bind models. A proposal names messages by ids that this
// session has been shown; at most 20 a call, and 100 a day and caller.
//
// A draft goes to the sender of a message, or to those who take part in its thread, and never to an address that the
// assistant names. What its text claims and nobody in the thread has said is marked in it. It lies among the drafts at
// Gmail, and a person sends it or not.
//
// Proposed rules are tried on stored mail and kept as a session of package ruleschat, of which 20 a caller wait at
// most. They decide nothing until a person accepts them.
//
// Once a caller has been shown anything of a message whose sender is not verified, or to whom the user has never
// written, be it the subject in a list, or names such a message in a proposal, what it proposes waits for a person: the
// message may have told it what to propose. That holds until its session ends, and in its other sessions for 24 hours.
// An answer that a rule has sent is not written by the user.
//
// # What an assistant sees
//
// The text of a message as a person sees it, without what is hidden in it, cut at 8,000 characters, between two lines
// with a random mark that the text cannot contain. No answer contains a link or a picture in Markdown or HTML, so that
// a program that shows the assistant's words fetches nothing.
//
// Each call is on record in the table assistant_calls: the caller, the tool, a hash of the arguments, the size of the
// answer, and the error.
package mcp
