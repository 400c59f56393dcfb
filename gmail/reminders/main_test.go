package reminders_test

import (
	"context"
	"testing"

	"github.com/postroom-go/postroom/gmail/reminders"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate, reminders.Migrate, makeTold) }

// makeTold makes the table of what users were told.
func makeTold(ctx context.Context, db queue.DB) error {
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx,
			"CREATE TABLE IF NOT EXISTS told (delivery TEXT NOT NULL, user_id TEXT NOT NULL, title TEXT NOT NULL, at TEXT NOT NULL)")
		return err
	})
}
