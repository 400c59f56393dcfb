// Package webhook tells an address of the user's about requests for approval and their answers, signed as Standard Webhooks
// (https://www.standardwebhooks.com) has it, so that a receiver can verify them with any of its libraries.
//
// # What is sent
//
// A POST with the header fields webhook-id (the same however often it is tried), webhook-timestamp (of the attempt, in seconds) and
// webhook-signature ("v1," and the HMAC-SHA256 over id, timestamp and body in base64), and a JSON object:
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
// The types are approval.requested, approval.approved, approval.rejected, approval.withdrawn and approval.expired; decided_at,
// approver and why are left out where there are none. There is no text of mail in it, no address, no parameter of an action and no
// secret: the receiver asks for what it may see. Events may come more than once, and in another order than they happened.
//
// What is sent is compared with the log of the ledger before it is signed. Of a request that something has altered in the database, or
// answered there, nothing is sent, and the job fails.
//
// # Delivery
//
// Each event is a job. An answer of 2xx ends it, 410 (gone) fails it, and everything else is tried again, after Retry-After where
// the answer has one.
//
// # Where it goes
//
// Only to https, and only to addresses that are public: each connection is checked after the name was looked up, so that a name
// cannot lead into the network that the program runs in. Redirects are not followed, proxies of the environment are not used, and
// there are no cookies. [Config].AllowPrivate lifts this for a receiver of one's own.
package webhook
