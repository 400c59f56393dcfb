package undo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/safety"
)

// A request reads in its transaction whether the mailbox is there and which job it revives: with one connection, or as
// many requests as connections, it would wait for itself.
func TestARequestNeedsOneConnection(t *testing.T) {
	dsn := dbtest.PostgresDSN(t)
	open := func(connections string) *postgres.DB {
		db, err := postgres.Open(t.Context(), dbtest.With(t, dsn, "pool_max_conns", connections), nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	}
	wide := newHouseIn(t, open("8"), nil)
	_, msg := wide.letter("tea")
	snooze := wide.decide(msg, postroom.Snooze, "")
	wide.run()
	wide.undoAll(snooze)

	narrow := newHouseIn(t, open("1"), nil)
	_, err := narrow.undoer.Request(t.Context(), wide.undoOf(snooze).ID)
	require.NoError(t, err)
	_, other := wide.letter("cake")
	star := wide.decide(other, postroom.Star, "")
	wide.run()
	batch, err := narrow.undoer.RequestAll(t.Context(), safety.Filter{}, true)
	require.NoError(t, err)
	require.Contains(t, batch.Requested, star)
}
