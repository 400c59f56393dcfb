// Package unsubscribe leaves mailing lists by one click (RFC 8058): a POST to the address that a message names.
//
//	leaver, err := unsubscribe.New(unsubscribe.Config{Messages: store})
//	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{leaver.Kind()}})
//
// # The way of an unsubscription
//
// [Leaver.Kind] is an action, [ActionType], that rules, models and people can decide on. It cannot be undone, so the
// safety gate asks a person each time, and its caps bound how many there are in a day. When it is approved, the job of
// the action reads the message, asks what it offers ([Read]), and makes the request ([Leaver.Leave]).
//
// # What is trusted
//
// Anyone can send mail that offers to be unsubscribed from. The address is asked only if all this holds:
//
//   - List-Unsubscribe-Post offers one click, and List-Unsubscribe has an https address without a user.
//   - A DKIM signature that Gmail has verified covers both fields as they are, as RFC 8058 demands, and is one of the
//     sender's organizational domain: others may add fields and a signature of their own to a message of the sender.
//   - The address is public. The connection is checked after the name was resolved.
//
// The request has no cookies, no referrer and no body but the one of the RFC, and nothing of the answer is used but its
// status. A redirect is followed three times at most, as a POST (307, 308) to the same host; others end the action, as
// they would become a GET, which is no consent. Links without one click, and addresses of mail, are for people: [Offer]
// has them, and this package neither opens nor writes to them.
package unsubscribe
