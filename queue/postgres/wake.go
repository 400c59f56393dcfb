package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// Notify implements [queue.Waker].
func (db *DB) Notify(ctx context.Context, tx *queue.Tx) error {
	_, err := tx.ExecContext(ctx, notify)
	return err
}

// reconnectAfter is the pause before a lost connection is replaced; polling goes on meanwhile.
const reconnectAfter = time.Second

// Listen implements [queue.Waker] on a connection of its own, which it replaces when it is lost.
func (db *DB) Listen(ctx context.Context, wake func()) error {
	for {
		// Why the connection was lost does not matter: polling is the net, and there is another try.
		_ = db.listen(ctx, wake)
		timer := time.NewTimer(reconnectAfter)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

func (db *DB) listen(ctx context.Context, wake func()) error {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// It has a subscription and must not go back to the pool.
	own := conn.Hijack()
	defer own.Close(context.WithoutCancel(ctx))
	if _, err := own.Exec(ctx, listen); err != nil {
		return err
	}
	// What was notified before went unheard.
	wake()
	for {
		if _, err := own.WaitForNotification(ctx); err != nil {
			return err
		}
		wake()
	}
}
