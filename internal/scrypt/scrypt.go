// Package scrypt has the cost of trying a passphrase, which tests lower.
package scrypt

// WorkFactor is the base-2 logarithm of the cost of trying a passphrase: about a second, as age recommends. Only
// tests change it, before anything else runs.
var WorkFactor = 18
