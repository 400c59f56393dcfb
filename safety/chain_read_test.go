package safety

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A reading is how a page of a chain is read: back from an entry, or on from one.
type reading struct {
	back  bool
	entry int64
}

// A watched querier notes how the log is read. It fails where the chain is the one that it has.
type watched struct {
	dbquery.Querier
	readings []reading
	fails    int
}

var errDisk = errors.New("disk full")

func (w *watched) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if query == selectEntries || query == selectEntriesBack {
		if args[0] == w.fails {
			return nil, errDisk
		}
		entry, _ := args[1].(int64)
		w.readings = append(w.readings, reading{query == selectEntriesBack, entry})
	}
	return w.Querier.QueryContext(ctx, query, args...)
}

// readLog reads the log as before the action is started, and returns how.
func (d *desk) readLog(id string) []reading {
	w := &watched{Querier: d.db.Reader()}
	p, err := readPermit(context.Background(), w, id)
	require.NoError(d.t, err)
	whole, err := d.ledger.whole(context.Background(), w, map[string]*lastEntry{id: &p.Last})
	require.NoError(d.t, err)
	require.Equal(d.t, logWhole, whole)
	return w.readings
}

// TestAProcessReadsAnEntryOnce, and none that it need not.
func TestAProcessReadsAnEntryOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		var ids []string
		for range firstPage {
			ids = append(ids, d.record(message("a@example.com"), rule(postroom.Archive, "")).ID) // two entries each
		}
		end := d.entries()
		last := len(ids) - 1
		require.Equal(t, []reading{{true, end}}, d.readLog(ids[last]))
		require.Empty(t, d.readLog(ids[last]))
		before := d.readLog(ids[last-1])
		require.Len(t, before, 1)
		require.Equal(t, reading{true, end - 2}, before[0], "it goes on where it has stopped: the last that was read is checked with the one before")
		added := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		require.Equal(t, []reading{{false, end}}, d.readLog(added))
		require.Empty(t, d.readLog(ids[last-1]))
		require.Len(t, d.readLog(ids[0]), 2, "a small page, and a large one")
		require.Empty(t, d.readLog(ids[0]))
		d.record(message("a@example.com"), rule(postroom.Archive, ""))
		require.Equal(t, []reading{{false, end + 2}}, d.readLog(ids[0]))
	})
}

// TestAChainThatCouldNotBeReadWasNotRead: what has failed does not stand for what would have been found.
func TestAChainThatCouldNotBeReadWasNotRead(t *testing.T) {
	db := dbtest.Postgres(t)
	d, other := newDesk(t, db, keyed(1)), newDesk(t, db, keyed(1))
	id := d.forwarded()
	d.save()
	other.inSecondChain(func() {
		_, err := other.start(id, "job-1")
		require.NoError(t, err)
	})
	d.restore(id)
	d.exec(hide, id)
	p, err := readPermit(t.Context(), db.Reader(), id)
	require.NoError(t, err)
	d = newDesk(t, db, keyed(1))
	_, err = d.ledger.whole(t.Context(), &watched{Querier: db.Reader(), fails: 2}, map[string]*lastEntry{id: &p.Last})
	require.ErrorIs(t, err, errDisk)
	a, err := d.start(id, "job-2")
	require.NoError(t, err)
	require.Equal(t, postroom.ActionApprovedPending, a.State)
}
