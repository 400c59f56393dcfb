package archive

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// patience is the attempt at a message that Gmail refuses after which the run goes on without it.
const patience = 5

// A refusal is an error of Gmail about one message. The job that meets it is tried again, whatever the error is.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// refuses reports whether Gmail may answer so about one message for ever, and give the others.
func refuses(err error) bool {
	switch gmailapi.ClassOf(err) {
	case gmailapi.ClassServer, gmailapi.ClassInvalid, gmailapi.ClassForbidden, gmailapi.ClassPrecondition:
		return true
	}
	return false
}

// refused returns nil if the run goes on without a message that Gmail refuses, in this step or in the next. A step
// gives up one message only, so that an outage is not taken for many of them.
func (s *step) refused(ctx context.Context, id string, err error, progress bool) error {
	var noted int
	if fault := dbquery.Get(ctx, s.cfg.DB.Reader(), &noted, sqlIsUnarchived, s.account.ID, id); fault != nil {
		return fmt.Errorf("archive: account %s: %w", s.account.ID, fault)
	}
	switch {
	case noted > 0:
		s.note(ctx, id, err)
	case s.attempt >= patience && !s.gaveUp:
		s.gaveUp = true
		s.note(ctx, id, err)
	case progress || s.gaveUp:
		s.partial = true
	case gmailapi.ClassOf(err) == gmailapi.ClassServer:
		return err
	default:
		return refusal{err}
	}
	return nil
}
