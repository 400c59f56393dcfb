package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

// A transaction of the program's own holds the first job of a sequence, and ends it later. Claims go on beside it, wait
// for it no more than it waits for them, and the next job gets its turn.
func TestClaimsWaitForNobodyWhoHoldsTheFirstOfASequence(t *testing.T) {
	db := openQueue(t)
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	in := &queue.Options{Sequence: "s"}
	enqueued, err := q.EnqueueMany(t.Context(), []queue.NewJob{
		{Type: "t", Options: *in}, {Type: "t", Options: *in}, {Type: "t"}})
	require.NoError(t, err)
	claim := func() (ids []string) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		jobs, err := q.Claim(ctx, "w", []string{"t"}, 10)
		require.NoError(t, err)
		for _, job := range jobs {
			ids = append(ids, job.Job.ID)
		}
		return ids
	}
	held, claimed, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			var id string
			err := tx.QueryRowContext(ctx, "SELECT id FROM jobs WHERE id = $1 FOR UPDATE", enqueued[0].ID).Scan(&id)
			close(held)
			if err != nil {
				return err
			}
			<-claimed
			return q.CancelTx(ctx, tx, id)
		})
	}()
	<-held
	began := time.Now()
	require.Equal(t, []string{enqueued[2].ID}, claim())
	require.Less(t, time.Since(began), 5*time.Second)
	claimed <- struct{}{}
	require.NoError(t, <-ended)
	require.Equal(t, []string{enqueued[1].ID}, claim())
}
