// Package prefilter finds the rules that may match a message without trying the others.
//
// # Clues and triggers
//
// A rule is known by its [Clue], which holds in every message that the rule matches: keys (an address, a domain, the value of a
// header field), literals (of a text, a wildcard, or a regular expression, one of which every match contains), a source that must
// have a text, or an atom, which is a predicate that must be true. [New] chooses the best trigger that each clue predicates open: of a
// conjunction the best one of its parts, of a disjunction all of them. The best trigger is the rarest: a census of all rules
// counts what they have in common, such as the word "order", which does not distinguish them. A rule without a trigger, such as a
// negation, is always a candidate.
//
// # A search
//
// For a message the keys are looked up, and the literals of all rules are found in one pass over each text (Aho and Corasick), the
// body last and only if it still matters. [Search.Next] returns the rules whose trigger is found, in their order. The caller tries
// them exactly: a candidate may fail, but no rule that matches is left out.
//
// Literals are looked for in the normal form of a text: lower case, with one space for each run of spaces and line ends. If a
// match finds a value in a text, the normal form of the value is in that of the text.
//
// Package rules compiles conditions into clues, and has the texts of messages. This package knows neither: sources and atoms are
// numbers, and a [Message] returns the texts and the truth.
package prefilter
