// Package sieve imports scripts of Sieve (RFC 5228) and its common extensions as rules.
//
// [Import] reads a script, runs it symbolically, and makes a rule for each way through it that does something. What
// rules cannot express is not approximated in silence: the translation lists it with its reason.
package sieve
