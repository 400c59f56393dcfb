package queueadmin

import (
	"context"

	"github.com/postroom-go/postroom/queue"
)

// A Violation is a row that breaks an invariant of the queue's tables. There is none unless something other than the
// queue has written the row, or the queue has a bug.
type Violation struct {
	Rule    string // the invariant
	Subject string // the job, key or step that breaks it
}

// String formats the subject and the rule.
func (v Violation) String() string { return v.Subject + ": " + v.Rule }

// Verify checks the queue's invariants in the database and returns the violations, at most 100 of each invariant. An
// operator or a test may call it at any time. It reads all tables, each invariant at its own instant.
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
