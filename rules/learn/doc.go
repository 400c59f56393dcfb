// Package learn finds rules in what a person does with mail by hand, without a model.
//
//	Fact          what is known of one message that a person has acted on, and the act: its vote
//	Find          finds the rules that would have done the same
//	Finding       a rule, its class, the counts that prove it, and the messages that taught it
//	LowerBound    the exact lower bound of a precision
//
// # What is learned
//
// A rule is made of a template:
//
//	the id of a mailing list that several senders write to
//	the address of a sender whose domain is verified
//	the domain of a verified sender, and the shape of the subject, in which # stands for a number
//	one of these, and a header field of the sender's invention, the media type of an attachment or a list's id
//
// It labels, moves, archives, stars or marks as read, and does nothing else: no rule is learned that sends, forwards,
// deletes, throws away or unsubscribes. It belongs to an account, comes after the rules of a person, by [Priority],
// and matches only mail whose sender is verified, but for that of a list.
//
// # How a rule is proven
//
// Each thread has one vote: what the person did with its newest message. The newest quarter of a rule's votes is held
// out: the action is what most of the others say, and all are then counted. [Evidence.Class] says how well the counts
// prove the rule. A narrow rule is found only where a wider one is contradicted, and if it is unlikely that one of the
// parts that were tried agrees so well by chance.
//
// # What a sender can teach
//
// A sender has no votes, only mail. Mail that is not verified proves nothing about a sender; mail with the id of a
// list proves something about the list only beside that of others; a thread has one vote, however long it is; and a
// day's mail proves nothing. So whoever sends much mail teaches at most how that mail is sorted, and that only if a
// person sorts it, day by day. A caller must leave out what was done to many messages at once, and whatever the person
// has not done: this package believes each vote.
package learn
