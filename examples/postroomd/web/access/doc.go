// Package access says who uses the page, and what they may do there.
//
// On this machine a printed address signs in, and may do everything: [Local]. From elsewhere a person is known by a
// header field that a proxy sets, or by an OpenID provider; a table of addresses, roles and mailboxes says what each
// may do. [Person.May] is the only place where that is decided.
package access
