// Package gmailquery reads the search language of Gmail, the q of messages.list.
//
// [Parse] turns a query into a tree of [Node]. [Match] holds the tree against one [Document]; who keeps an index turns the tree
// into its own language instead. [Words] is the reading of text that both share: searches find words and not parts of them.
//
// Google does not publish a grammar. The rules are those of its help pages ("Refine searches in Gmail") and of the guide of the
// Gmail API ("Search and filter messages"), which says where the API differs from the web page: there are no aliases, no
// synonyms, and each message is searched by itself and not its thread.
package gmailquery
