// Package mailindex finds stored mail by the language of Gmail's search box.
//
// An [Index] is of the mail that a [Source] reads: a mailstore.Store, whose Search and SearchThreads call it. Its
// tables are message_terms, message_labels and unindexed_messages, which package mailstore's migrations make beside
// the messages.
//
// # How messages are found
//
// [Index.Search] and [Index.Threads] find messages of an account, newest first, page by page. A message is found only
// if reading it and comparing it with the query says so. An index chooses the messages to read, the candidates:
// possibly more than match, never fewer.
//
// The index answers one kind of question: in which seconds were messages received that have this term, from that
// second back? A term is a word in a field (sender, recipients, subject, file name, List-ID, Delivered-To, or
// anywhere), a property such as has:attachment, a Message-ID, or a size to the power of two; a label is looked up in
// the same way. Seconds are in the order of the results, so that a query's tree is answered by walking down several
// such lists at once, and only as far as a page reaches:
//
//	and             the seconds that all nodes have; nodes without an answer are left out
//	or              the seconds that one node has; if one has no answer, there is none
//	not, dates      no answer; dates at the top of the query bound the walk
//	phrase, AROUND  the seconds that all of its words have, or of more than eight the longest
//	label           the seconds of message_labels
//
// A query without an answer (a minus alone, no query) is answered by reading the messages, newest first; the database
// evaluates labels, dates and sizes at its top. If a message is deleted, or stored again with other words, its old
// index entries stay: their seconds lead to nothing, or to a message that is read and not found.
//
// message_terms has the seconds of all terms except labels. Each row has those of one of 512 slots, by the hash of
// the term, and of 2^20 seconds of time: lists of terms and of differences between seconds, of up to about 4 KB,
// after which another row begins. So a word costs two or three bytes for each message that has it; a word in ten
// years of mail reads a hundred short rows; and storing 512 messages writes some 512 rows, where a row for each word
// of each message would be 80,000.
//
// For that reason messages are indexed together. The transaction that stores a message stores its terms in
// unindexed_messages, as one value. When 512 wait, the next history sync or page of a backfill enqueues index.gmail,
// which moves them into message_terms. Searches read the waiting messages, and then message_terms: a message that is
// moved in between is seen twice. When more than 2,048 wait, as after an upgrade from a version without an index,
// whose migration lets all stored messages wait, words have no answer until the job has indexed them.
// [Index.Build] does the same without the job. On PostgreSQL a trigger also queues each message that a daemon
// of such a version stores meanwhile.
//
// message_labels has a row for each label of each message. Triggers on messages keep it exact, because a list of
// messages that were ever unread would not help to find the unread ones.
package mailindex
