package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func TestStatsRefusesWhatIsOutOfBounds(t *testing.T) {
	q := queuetest.New(t)
	for _, c := range []struct {
		req  queue.StatsRequest
		want string
	}{
		{queue.StatsRequest{Window: time.Second}, "queue: stats: StatsRequest.Window is 1s; it must be within 1m and 31 days"},
		{queue.StatsRequest{Window: 32 * 24 * time.Hour}, "StatsRequest.Window is 768h0m0s"},
		{queue.StatsRequest{Bucket: time.Second}, "StatsRequest.Bucket is 1s; it must be in whole minutes"},
		{queue.StatsRequest{Bucket: 90 * time.Second}, "must be in whole minutes"},
		{queue.StatsRequest{Bucket: -time.Minute}, "must be in whole minutes"},
		{queue.StatsRequest{Window: 24 * time.Hour, Bucket: time.Minute}, "makes more than 1000 buckets"},
		{queue.StatsRequest{MaxCount: -1}, "StatsRequest.MaxCount is -1"},
		{queue.StatsRequest{MaxCount: 10_000_001}, "StatsRequest.MaxCount is 10000001"},
	} {
		_, err := q.Stats(t.Context(), &c.req)
		require.ErrorContains(t, err, c.want)
	}
}

func TestStatsChoosesItsBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queuetest.New(t)
		time.Sleep(30*time.Minute + 30*time.Second) // the bubble begins at midnight
		_, err := q.Enqueue(t.Context(), Greet.New(Greeting{}, nil))
		require.NoError(t, err)
		for _, c := range []struct {
			req    *queue.StatsRequest
			bucket time.Duration
			n      int
		}{
			{nil, time.Minute, 60},
			{&queue.StatsRequest{Window: time.Minute}, time.Minute, 1},
			{&queue.StatsRequest{Window: 24 * time.Hour}, 24 * time.Minute, 60},
			{&queue.StatsRequest{Window: 24 * time.Hour, Bucket: 30 * time.Minute}, 30 * time.Minute, 48},
			{&queue.StatsRequest{Window: 90 * time.Minute}, 2 * time.Minute, 45},
		} {
			stats, err := q.Stats(t.Context(), c.req)
			require.NoError(t, err)
			require.Equal(t, c.bucket, stats.Bucket)
			require.Len(t, stats.Types[0].Finished, c.n)
			require.Equal(t, stats.Since.Truncate(c.bucket), stats.Since)
		}
	})
}
