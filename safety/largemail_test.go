package safety

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
)

// While a decision about a mail of 20 MB is recorded, no other writer waits for the mail to be read: the transaction
// takes a part of the time of the reading. Both are the best of five, since the machine may be busy with something
// else.
func TestALargeMailHoldsNoWriter(t *testing.T) {
	const size, most = 20 << 20, 50 * time.Millisecond
	d := newDesk(t, dbtest.SQLite(t), nil)
	html := strings.Repeat("<p style='color:#fff'>Our <b>offers</b> for your garden this spring</p>\n", size/72)
	reading, best := time.Hour, time.Hour
	for range 5 {
		msg := message("a@example.com")
		msg.BodyHTML = html
		asked := time.Now()
		record := d.ledger.Record(t.Context(), msg, model(postroom.Archive, 1))
		reading = min(reading, time.Since(asked))
		var a postroom.Action
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) (err error) {
			begun := time.Now()
			a, err = record(ctx, tx)
			best = min(best, time.Since(begun))
			return err
		}))
		require.Contains(t, d.checks(a), gate.OverrideHidden, "not all of it was read")
	}
	t.Log(reading, best)
	require.Less(t, best, min(most, reading/3))
}
