// Package webapi is an HTTP API of a pipeline, for programs and pages of a host: requests for approval, rules, and the
// stop.
//
//	GET  approvals             lists the waiting requests: limit, before, account_id, rule
//	GET  approvals/{id}        shows one, with what it sends
//	POST approvals/{id}/approve, approvals/{id}/reject
//	                           answer what was shown: {"request_id": …, "digest": …, "why": …}
//	GET  rules, POST rules     list, with account_id those of one account, and create
//	GET, PATCH, DELETE rules/{id}, POST rules/{id}/swap {"with": …}
//	GET  stop, POST stop {"why": …, "allow_undo": …}, POST resume {"why": …}
//
// The host says with [Config].Authorize who calls, and for which account. Bodies and answers are JSON; an error is a
// problem of RFC 9457. 409 says that something has changed, and must be read again; 412 says that it has another
// revision than the header field If-Match names.
//
// Each call is a [Route]. [OpenAPI] describes routes: the host's own too, which [Handle] makes.
package webapi
