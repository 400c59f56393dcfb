package queueadmin

import (
	"context"

	"github.com/postroom-go/postroom/queue"
)

// A Violation is a row that breaks what the queue promises of its tables. There is none unless something other than the queue
// has written them, or the queue has a bug.
type Violation struct {
	Rule    string // what always holds
	Subject string // the job, key or step that breaks it
}

// String formats the subject and the rule.
func (v Violation) String() string { return v.Subject + ": " + v.Rule }

// Verify checks the queue's invariants in the database and returns what breaks them, at most 100 of each: an audit that an
// operator, or a test, may run at any time. It reads all tables, each invariant as of its own instant.
func Verify(ctx context.Context, q *queue.Queue) ([]Violation, error) {
	a, err := auditorOf(q)
	if err != nil {
		return nil, wrap("verify", "", err)
	}
	stored, err := a.Violations(ctx)
	found := make([]Violation, len(stored))
	for i, v := range stored {
		found[i] = Violation(v)
	}
	return found, failed(ctx, q, "verify", err)
}
