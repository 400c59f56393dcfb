package queueadmin_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func TestStatsRefusesWhatIsOutOfBounds(t *testing.T) {
	q := queuetest.New(t)
	for _, c := range []struct {
		req  queueadmin.StatsRequest
		want string
	}{
		{queueadmin.StatsRequest{Window: time.Second},
			"queueadmin: stats: StatsRequest.Window is 1s; it must be within 1m and 31 days"},
		{queueadmin.StatsRequest{Window: 32 * 24 * time.Hour}, "StatsRequest.Window is 768h0m0s"},
		{queueadmin.StatsRequest{Bucket: time.Second}, "StatsRequest.Bucket is 1s; it must be in whole minutes"},
		{queueadmin.StatsRequest{Bucket: 90 * time.Second}, "must be in whole minutes"},
		{queueadmin.StatsRequest{Bucket: -time.Minute}, "must be in whole minutes"},
		{queueadmin.StatsRequest{Window: 24 * time.Hour, Bucket: time.Minute}, "makes more than 1000 buckets"},
		{queueadmin.StatsRequest{MaxCount: -1}, "StatsRequest.MaxCount is -1"},
		{queueadmin.StatsRequest{MaxCount: 10_000_001}, "StatsRequest.MaxCount is 10000001"},
	} {
		_, err := queueadmin.ReadStats(t.Context(), q, &c.req)
		require.ErrorContains(t, err, c.want)
	}
}

func TestStatsChoosesItsBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queuetest.New(t)
		time.Sleep(30*time.Minute + 30*time.Second) // the bubble begins at midnight
		_, err := q.Enqueue(t.Context(), ping.New(1, nil))
		require.NoError(t, err)
		for _, c := range []struct {
			req    *queueadmin.StatsRequest
			bucket time.Duration
			n      int
		}{
			{nil, time.Minute, 60},
			{&queueadmin.StatsRequest{Window: time.Minute}, time.Minute, 1},
			{&queueadmin.StatsRequest{Window: 24 * time.Hour}, 24 * time.Minute, 60},
			{&queueadmin.StatsRequest{Window: 24 * time.Hour, Bucket: 30 * time.Minute}, 30 * time.Minute, 48},
			{&queueadmin.StatsRequest{Window: 90 * time.Minute}, 2 * time.Minute, 45},
		} {
			stats, err := queueadmin.ReadStats(t.Context(), q, c.req)
			require.NoError(t, err)
			require.Equal(t, c.bucket, stats.Bucket)
			require.Len(t, stats.Types[0].Finished, c.n)
			require.Len(t, stats.Open, c.n)
			require.Equal(t, 1, stats.Open[c.n-1])
			require.Equal(t, stats.Since.Truncate(c.bucket), stats.Since)
		}
	})
}

// What was open is counted back from what is.
func TestStatsOfTheBacklog(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		var ids []string
		for _, ago := range []time.Duration{50 * time.Minute, 40 * time.Minute, 30 * time.Minute} {
			id := enqueue(t, q, nil)
			at := time.Now().Add(-ago)
			ids = append(ids, fmt.Sprintf("%08x-%04x%s", at.UnixMilli()>>16, at.UnixMilli()&0xffff, id[13:]))
			execute(t, q, fmt.Sprintf("UPDATE jobs SET id = '%s' WHERE id = '%s'", ids[len(ids)-1], id))
		}
		execute(t, q, fmt.Sprintf("UPDATE jobs SET state = 'completed', started_at = '%[1]s', finished_at = '%[1]s' WHERE id = '%[2]s'",
			time.Now().Add(-20*time.Minute).UTC().Format("2006-01-02T15:04:05.000000Z"), ids[0]))
		stats, err := queueadmin.ReadStats(t.Context(), q, nil)
		require.NoError(t, err)
		at := func(ago time.Duration) int {
			return stats.Open[int(stats.At.Add(-ago).Sub(stats.Since)/stats.Bucket)]
		}
		for minutes, want := range map[int]int{55: 0, 45: 1, 35: 2, 25: 3, 15: 2, 0: 2} {
			require.Equal(t, want, at(time.Duration(minutes)*time.Minute), "%d minutes ago", minutes)
		}
	})
}
