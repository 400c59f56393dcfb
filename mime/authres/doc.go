// Package authres reads what servers found about the authentication of a message's sender.
//
// [Read] returns the findings of the server that received the message (Authentication-Results, RFC 8601), without
// results forged by the sender. [VerifiedFrom] returns the sender's address if that server verified its domain.
// [ReadARC] returns the claims of servers on the way (RFC 8617), which prove nothing by themselves.
// [OrganizationalDomain] returns the registered domain of an address, by the public suffix list.
//
// The package checks no signatures (DKIM) and asks no DNS: it reads what a trusted server has written. No function
// fails: malformed data is read as far as its meaning is clear, and left out otherwise. Time and memory are linear in
// the size of the header.
//
// The public suffix list is in suffixes.txt; go generate makes it anew from golang.org/x/net/publicsuffix, which
// itself would bring net/http into every program.
package authres
