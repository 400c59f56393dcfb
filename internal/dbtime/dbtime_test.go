package dbtime_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

func TestStoredTextIsOfOneWidthAndSortsAsTime(t *testing.T) {
	zones := []*time.Location{time.UTC, time.FixedZone("east", 14*3600), time.FixedZone("west", -12*3600)}
	draw := func(t *rapid.T, name string) time.Time {
		micros := rapid.Int64Range(-62135596800_000_000, 253402300799_999_999).Draw(t, name) // years 1 to 9999
		return time.UnixMicro(micros).In(rapid.SampledFrom(zones).Draw(t, name+" zone"))
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		textA, textB := dbtime.Format(a), dbtime.Format(b)
		require.Len(t, textA, len(dbtime.Layout))
		require.Equal(t, a.UTC().Format(dbtime.Layout), textA)
		require.Equal(t, a.Before(b), textA < textB)
		require.Equal(t, a.Equal(b), textA == textB)
		var back dbtime.Time
		require.NoError(t, back.Scan(textA))
		require.True(t, a.Equal(back.Time))
		require.Equal(t, time.UTC, back.Location())
	})
}

func TestYearsThatDoNotFitTheWidthAreWrittenInFull(t *testing.T) {
	require.Equal(t, "12026-03-01T11:00:00.000000Z", dbtime.Format(time.Date(12026, 3, 1, 11, 0, 0, 0, time.UTC)))
	require.Equal(t, "-0001-03-01T11:00:00.000000Z", dbtime.Format(time.Date(-1, 3, 1, 11, 0, 0, 0, time.UTC)))
}

func TestTimesBeyondTheWidthAreStoredAsItsBounds(t *testing.T) {
	for year, want := range map[int]string{
		-4713: "0001-01-01T00:00:00.000001Z", 0: "0001-01-01T00:00:00.000001Z", 10000: "9999-12-31T23:59:59.999999Z",
		294277: "9999-12-31T23:59:59.999999Z", 2026: "2026-03-01T11:00:00.000000Z",
	} {
		value, err := dbtime.Of(time.Date(year, 3, 1, 11, 0, 0, 0, time.UTC)).Value()
		require.NoError(t, err)
		require.Equal(t, want, value)
	}
}

func TestZeroIsNull(t *testing.T) {
	value, err := dbtime.Of(time.Time{}).Value()
	require.NoError(t, err)
	require.Nil(t, value)
	back := dbtime.Of(time.Now())
	require.NoError(t, back.Scan(nil))
	require.True(t, back.IsZero())
	require.True(t, dbtime.Truncate(time.Time{}).IsZero())
}

func TestTruncateIsWhatComesBack(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	require.Equal(t, time.Date(2026, 3, 1, 11, 0, 0, 123456000, time.UTC), dbtime.Truncate(at))
	require.Equal(t, "2026-03-01T11:00:00.123456Z", dbtime.Format(at))
}

func TestScanRefuses(t *testing.T) {
	var at dbtime.Time
	require.EqualError(t, at.Scan(int64(7)), "dbtime: cannot read a time from int64")
	require.ErrorContains(t, at.Scan("yesterday"), `dbtime: "yesterday" is no stored time`)
	require.ErrorContains(t, at.Scan([]byte("yesterday")), "is no stored time")
}

func TestColumns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		column := map[driver.Dialect]string{driver.SQLite: "TEXT", driver.Postgres: "TIMESTAMPTZ"}[db.Dialect()]
		at := time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.FixedZone("", 3600))
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			if _, err := tx.ExecContext(ctx, "CREATE TABLE times (at "+column+")"); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO times (at) VALUES ($1)", dbtime.Of(at)); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "INSERT INTO times (at) VALUES ($1)", dbtime.Of(time.Time{}))
			return err
		}))
		var found dbtime.Time
		require.NoError(t, db.Reader().QueryRowx("SELECT at FROM times WHERE at = $1", dbtime.Of(at.UTC())).Scan(&found))
		require.Equal(t, at.UTC(), found.Time)
		require.NoError(t, db.Reader().QueryRowx("SELECT at FROM times WHERE at IS NULL").Scan(&found))
		require.True(t, found.IsZero())
	})
}
