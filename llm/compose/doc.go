// Package compose has a language model write the text of an answer to a mail.
//
// A [Composer] shows the model the thread, and returns the text of its one call of the tool write_answer. The model
// writes in the language of the sender, without a signature and without what it answers.
//
// The messages of a thread were written by strangers. Each stands between lines with a mark that is random for each
// prompt and that it cannot contain, without what its reader does not see and cut to length. The model has no tool
// but the one that returns a text, names no recipient and sends nothing. The instruction of a [Request] and its text
// are the person's own words.
//
// Earlier answers of the person to the same correspondent show how the person writes. Of each the model sees what the
// person has written, and not what is quoted; a message that the mailbox has not sent is left out. They are no source
// of facts.
//
// [Request].Earlier is other mail between the person and the correspondent, and [Request].Snippets are the person's own
// texts for answers. Both are sources of facts; of earlier mail only what was newly written is shown and known, since a
// quotation may be of anybody.
//
// [Composer.Voice] describes how a person writes, from the person's own mail and corrections. [Request].Voice gives the
// description to the model with each draft; it is no source of facts either.
//
// # Facts
//
// Numbers of two and more digits, amounts, dates, times, days of the week, addresses and links of the answer that are
// neither in the thread, in earlier mail nor in the person's words are marked as [check: …], so that nobody sends them
// unseen. Another form of the same value counts as the same: 1,200 and 1.200,00 €; 14:00 and 2 pm; 2026-03-07, 7.3. and
// March 7th.
//
// Numbers in words, single digits without a unit, months alone and words such as tomorrow are not marked. Names of
// months and days are known in English, German, French, Spanish, Italian, Dutch and Portuguese.
package compose
