// Package voice learns how the owner of a mailbox writes: a profile in words, which a writer of drafts reads.
//
//	Service   keeps the profiles, and the lessons
//	Profile   is what was learned, or what the owner has made of it; at most MaxProfile characters
//	Lesson    is what the owner has changed in a draft before sending it
//	Learner   writes a profile: a model
//
// [New] makes a [Service]. [Service.Register] registers the handler of [JobLearn]. A host schedules [NewDueJob] once a
// day: it has the profile of each mailbox learned that has none, or whose profile is older than a month.
// [Service.Rebuild] has one learned at once, and [Service.Edit] stores what the owner writes instead.
//
// # An edited profile is the owner's
//
// A profile that the owner has edited is not learned again by the schedule, and by Rebuild only if it is told to
// replace it. What is learned belongs to one version of the profile: a change that the owner makes meanwhile stays.
//
// # What is learned from
//
// The newest mail that the owner has sent: what the owner has written in it, of at least 20 words, without quotations
// and signatures as package mime/reply finds them, and without what else stands in a message that others have
// written in the same thread. What programs have sent does not count, nor do the drafts of this program: of
// those that [Service.Sent] hears of the differences count, which are the lessons. Figures, addresses and links are
// masked: a profile has no facts.
package voice
