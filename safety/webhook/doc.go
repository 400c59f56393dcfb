// Package webhook posts events about requests for approval and their answers to a URL of the user's. The events are
// signed according to Standard Webhooks (https://www.standardwebhooks.com), so that a receiver can verify them with
// any of its libraries.
//
// # Events
//
// An event is a POST with the header fields webhook-id (the same however often it is tried), webhook-timestamp (of
// the attempt, in seconds) and webhook-signature ("v1," and the HMAC-SHA256 over id, timestamp and body in base64),
// and a JSON object:
//
//	{
//	  "type": "approval.requested",
//	  "timestamp": "2026-11-22T15:04:05.123456Z",
//	  "data": {
//	    "approval_id": "…", "action_id": "…", "account_id": "…", "message_id": "…",
//	    "action": "delete", "source": "llm", "rule": "", "model": "some-model",
//	    "reasons": ["…"], "requested_at": "…", "expires_at": "…",
//	    "outcome": "waiting", "decided_at": "…", "approver": "…", "why": "…"
//	  }
//	}
//
// The types are approval.requested, approval.approved, approval.rejected, approval.withdrawn and approval.expired.
// account.reauthorize, approval.not_asked and notice are about no request and have other data: [Reauthorize],
// [NotAsked] and [Notice]. Empty decided_at, approver and why are left out. An event of a request contains no text of
// mail, no address, no parameter of an action and no secret; the receiver fetches the details that it may see. Events
// may arrive more than once, and out of order.
//
// What is sent is compared with the log of the ledger before it is signed. Of a request that something has altered in
// the database, or answered there, nothing is sent, and the job fails.
//
// # Delivery
//
// Each event is a job. A 2xx response ends it, and 410 (gone) fails it. After any other response it is retried,
// respecting Retry-After.
//
// # Destinations
//
// Events go only to https URLs and only to public addresses. Each connection is checked after the name was resolved,
// so that a name cannot lead into the program's own network. The client follows no redirects, uses no proxies of the
// environment, and keeps no cookies. [Config].AllowPrivate lifts the restriction to https and public addresses, for a
// receiver of one's own.
package webhook
