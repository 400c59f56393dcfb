// Package gmailquery parses the search language of Gmail, the q of messages.list.
//
// [Parse] converts a query to a tree of [Node]. [Match] matches the tree against one [Document]. A store with an
// index translates the tree into its own query language instead. Both use [Words] to split text: searches find words
// and not parts of them.
//
// Google does not publish a grammar. The rules are those of its help pages ("Refine searches in Gmail") and of the
// guide of the Gmail API ("Search and filter messages"), which describes how the API differs from the web page: there
// are no aliases and no synonyms, and a search matches single messages and not threads.
package gmailquery
