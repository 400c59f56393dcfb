package postgres

import (
	"context"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

var _ driver.FinishClaimer = (*engine)(nil)

// FinishAndClaim implements [driver.FinishClaimer]. The claim finds the marks of what has just ended, and passes over the keys
// that others look at. Where it would wait, for the claims of types that are limited or for who sets a limit, it is left to
// [driver.Claimer].
func (db *engine) FinishAndClaim(
	ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome, req driver.ClaimRequest,
) (answers []error, result driver.ClaimResult, err error) {
	answers, freed, err := finish(ctx, tx, outcomes)
	if err != nil {
		return nil, result, err
	}
	left := true
	if result.More = db.typed.Load(); !result.More {
		req.Now = dbtime.Truncate(req.Now) // limits reckon in what is stored
		c := carefulClaim{req: req, depth: 1, beside: true}
		if err := c.run(ctx, tx); err != nil {
			return nil, result, err
		}
		if err := flush(ctx, tx); err != nil {
			return nil, result, err
		}
		if result.More = c.refused; !c.refused {
			result = db.answerOf(&c)
			left = result.More || c.keys.left || c.todo.types || c.ahead[0].marks
		}
	}
	if freed && left {
		err = db.Notify(ctx, tx)
	}
	return answers, result, err
}
