package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

// A part of a limit that no flag names stays.
func TestALimitIsChangedByItsParts(t *testing.T) {
	eachEngine(t, func(d *desk) {
		d.did("pause --type greet")
		for _, step := range []struct{ flags, says string }{
			{"--running 2", "type greet: limited: at most 2\n"},
			{"--rate 5", "type greet: limited: at most 2, 5 in 1m0s, 1 at once\n"},
			{"--per 1h --burst 3", "type greet: limited: at most 2, 5 in 1h0m0s, 3 at once\n"},
			{"--running 4", "type greet: limited: at most 4, 5 in 1h0m0s, 3 at once\n"},
			{"--rate 6", "type greet: limited: at most 4, 6 in 1h0m0s, 3 at once\n"},
			{"--running 0", "type greet: limited: 6 in 1h0m0s, 3 at once\n"},
			{"--burst 0", "type greet: limited: 6 in 1h0m0s, 1 at once\n"},
			{"--running 7 --rate 0", "type greet: limited: at most 7\n"},
		} {
			require.Equal(d, step.says, d.did("limits set --type greet "+step.flags))
		}
		for flags, why := range map[string]string{
			"--running 0": "nothing of the limit would be left; remove it with 'limits remove'",
			"--per 1m":    "Limit.Rate is 0, but Per (1m0s)", "--burst 2": "Limit.Rate is 0",
			"--rate -1": "Limit.Rate is -1", "--rate 1 --per 0s": "Limit.Per is 0s",
		} {
			r := d.run("limits set --type greet " + flags)
			require.Equal(d, ExitUsage, r.status, flags)
			require.Contains(d, r.errors, why)
		}
		require.Equal(d, ExitUsage, d.run("limits set --running 1 --key", "\xff").status)
		d.did("limits set --key k --rate 3")
		all, err := d.q.Limits(d.Context())
		require.NoError(d, err)
		require.Equal(d, []queue.LimitStatus{
			{Target: queue.ForKey("k"), Limit: queue.Limit{Rate: 3, Per: time.Minute, Burst: 1}},
			{Target: queue.ForType(string(greet)), Limit: queue.Limit{MaxRunning: 7}, Paused: true},
		}, all)
	})
}
