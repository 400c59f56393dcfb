package command

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailapi"
)

// The bounds of the wait for Gmail's quota.
const (
	leastQuotaWait = time.Second
	mostQuotaWait  = time.Minute
)

// WithinQuota calls fn again when Gmail has refused it for its quota of the minute, after the wait that Gmail asks for.
// Another error is returned, and so is that of ctx.
func WithinQuota(ctx context.Context, fn func(ctx context.Context) error) error {
	for {
		err := fn(ctx)
		var refused *gmailapi.Error
		if !errors.As(err, &refused) || refused.Class != gmailapi.ClassRateLimited {
			return err
		}
		wait := time.NewTimer(min(max(refused.RetryAfter, leastQuotaWait), mostQuotaWait))
		select {
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		case <-wait.C:
		}
	}
}
