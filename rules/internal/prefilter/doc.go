// Package prefilter finds the rules that may match a message without trying the others.
//
// # Prefilter keys
//
// The key of a rule is a condition on texts that holds in every message that the rule matches, and that is cheaper to
// test: see [Key]. It is made of whole texts (an address, a domain, the value of a header field), literals (of a text,
// a wildcard, or a regular expression, one of which every match contains), sources that must have a text, and atoms,
// which are predicates that must be true. [New] chooses what the index looks for, the index key: of a conjunction the
// best of its parts, of a disjunction all of them. The best is the rarest: a census of all rules counts what they have
// in common, such as the word "order", which does not distinguish them. A rule without an index key, such as a
// negation, is always a candidate.
//
// # A search
//
// For a message the whole texts are looked up, and the literals of all rules are found in one pass over each text (Aho
// and Corasick), the body last and only if it still matters. [Search.Next] returns the rules whose index key is found,
// in their order. The caller tries them exactly: a candidate may fail, but no rule that matches is left out.
//
// Literals are looked for in the normal form of a text: lower case, with one space for each run of spaces and line
// ends. If a match finds a value in a text, the normal form of the value is in that of the text.
//
// Package rules compiles conditions into keys, and has the texts of messages. This package knows neither: sources
// and atoms are numbers, and a [Message] returns the texts and the truth.
package prefilter
