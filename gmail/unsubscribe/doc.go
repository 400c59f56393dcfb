// Package unsubscribe leaves mailing lists by one click (RFC 8058), a POST to the address that a message names, or by
// the mail that it names (RFC 2369).
//
//	leaver, err := unsubscribe.New(unsubscribe.Config{Messages: store})
//	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{leaver.Kind()}})
//
// # The way of an unsubscription
//
// [Leaver.Kind] is an action, [ActionType], that rules and people can decide on. It cannot be undone: who wants the
// mail again subscribes again. So the safety gate asks a person each time. When it is approved, the job of the action
// reads the message, asks what it offers ([Read]), and makes the request ([Leaver.Leave]), or writes the mail that the
// message names ([ByMail]), once, by package outbox. With [Config].DB it keeps what was left, and leaves at most
// [Config].PerDay lists of an account within a day: the others wait. Package gmail does not start an action that waits,
// so that other actions of its message are carried out meanwhile; only its permanent deletion comes after it.
//
// # What is trusted
//
// Anyone can send mail that offers to be unsubscribed from. The address is asked only if all this holds:
//
//   - List-Unsubscribe-Post offers one click, and List-Unsubscribe has an https address without a user.
//   - A DKIM signature that Gmail has verified covers both fields as they are, as RFC 8058 demands, and is one of the
//     sender's organizational domain: others may add fields and a signature of their own to a message of the sender.
//   - The address is public. The connection is checked after the name was resolved, and so is each redirect's.
//
// The request has no cookies, no referrer and no body but the one of the RFC, and nothing of the answer is used but its
// status. A redirect is followed three times at most, as a POST (307, 308) to the same host; others end the action, as
// they would become a GET, which is no consent.
//
// A mail is written only to the one address of a field that such a signature covers, with the subject and the few words
// that the field names. The action names the address too, so that it is what a person approves.
//
// Links without one click are for people: [Offer] has them, and this package does not open them.
package unsubscribe
