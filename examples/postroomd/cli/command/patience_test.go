package command

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailapi"
)

func TestACommandWaitsForTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := []time.Duration{0, 20 * time.Second, time.Hour}
		began := time.Now()
		require.NoError(t, WithinQuota(t.Context(), func(context.Context) error {
			if len(waits) == 0 {
				return nil
			}
			err := &gmailapi.Error{Class: gmailapi.ClassRateLimited, RetryAfter: waits[0]}
			waits = waits[1:]
			return err
		}))
		require.Equal(t, 81*time.Second, time.Since(began))

		other := errors.New("the network is away")
		require.ErrorIs(t, WithinQuota(t.Context(), func(context.Context) error { return other }), other)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		require.ErrorIs(t, WithinQuota(ctx, func(context.Context) error {
			return &gmailapi.Error{Class: gmailapi.ClassRateLimited}
		}), context.DeadlineExceeded)
	})
}
