// Package worldtest has what the tests of the packages of gmail share: a ledger, and the wire to a Gmail server.
package worldtest
