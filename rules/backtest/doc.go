// Package backtest tries rules on existing mail and counts what they would decide. It changes nothing.
//
// [Run] tries the rules of a [Config] on a sequence of messages, such as those of a mailbox or of an mbox file, and
// returns a [Report]: what each rule and each action would have done, on which days, and to which messages, with a
// few samples. It may compare the rules with other ones, such as those in use, and then also counts what would
// change.
//
// Each message is decided about as of its arrival, as the rules would have done then: ages are measured at that time,
// and a rule with sender_seen sees only earlier mail. [SendersOf] finds the earlier senders of mail that is in no
// store.
//
// A report is a text for people ([Report.String]), JSON, or a page with charts ([Report.WriteHTML]).
package backtest
