// Package compose has a language model write the text of an answer to a mail.
//
// A [Composer] shows the model the thread, and returns the text of its one call of the tool write_answer. The model
// writes in the language of the sender, without a signature and without what it answers.
//
// The messages of a thread were written by strangers. They stand between lines with a mark that is random for each
// prompt and that they cannot contain, without what their reader does not see and cut to length. The model has no tool
// but the one that returns a text, names no recipient and sends nothing. The instruction of a [Request] and its text
// are the person's own words.
//
// # Facts
//
// Numbers of two and more digits, amounts, addresses and links of the answer that are neither in the thread nor in the
// person's words are marked as [check: …], so that nobody sends them unseen. The same number in another form counts as
// the same: 1,500.00 and 1500.
package compose
