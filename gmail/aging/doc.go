// Package aging asks rules again about messages that have become old enough for them.
//
// A rule with the condition older_than usually matches no message that arrives. [Job], which runs every hour for each
// account, waits until the mailbox has been synchronized, takes the messages whose age has passed that of the rule
// since the last run, and has the rules decide about them as they are now, with the labels of now. Only what the rule
// with that age decides is recorded, once for each version of the rule and message: the rules before it may be its
// exceptions, and have decided when the message came.
//
// With thread_quiet and since_i_wrote, a message that has become old enough, also one that the owner has sent, stands
// for its thread: each message in it is asked about, but for old mail, sent mail, drafts, spam and trash.
//
// # The cursor
//
// For each rule, and each age in it, the table rule_ages holds up to which time of receipt messages have been asked
// about. It begins where the age is when the rule is stored, or at its first run if that comes more than a day later,
// as after a dry run: that a rule is written does nothing to mail that is old enough already, which [rules.Apply] is
// for. It moves on with each page of messages, so that a run that was interrupted goes on where it was; a page that is
// asked about twice records nothing twice. So does a new version of a rule, which with the same age or a greater one
// goes on from where the last one was if that was late. With a smaller age it begins as a new rule does: what is old
// enough for it already was not when the last version was asked, and is left alone. A rule that is disabled or removed
// is forgotten.
//
// What was received before [mailstore.Account].DecideSince is old mail and left alone, and so is what a person has
// changed by hand, or undone; see [rules.People].
package aging
