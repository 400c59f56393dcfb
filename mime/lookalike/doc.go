// Package lookalike finds names and addresses that are written to be mistaken for others.
//
// [MixesScripts], [Imitates] and [NamesAnother] judge the address of a sender. [Skeleton] returns a string that is
// equal for texts that look alike (Unicode UTS 39), [LatinText] uncovers words that are disguised with letters of
// other scripts, and [UnicodeDomain] returns a domain as people see it.
package lookalike
