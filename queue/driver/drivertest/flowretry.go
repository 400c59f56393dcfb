package drivertest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

var flowRetryCases = []conformanceCase{
	{
		name:        "Flow/what ran after a failure, and failed, waits for it again",
		explanation: "a handler that looks at how others have ended must not look while they are retried",
		run: func(s *suite) {
			g := s.graph("b 1, a 1, c 1, d 1, b>a run, b>c run, b>d cancel")
			for _, name := range []string{"b", "a", "c"} {
				require.NoError(s, s.finish(failed(g.start(name)[0].Lease())))
			}
			g.settle()
			require.Equal(s, "failed, a failed 0/0/1/0, b failed 0/0/1/0, c failed 0/0/1/0, d canceled 0/0/0/1", g.states())
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return g.store.RetryFlow(ctx, tx, g.id) })
			g.settle()
			require.Equal(s, "running, a waiting 1/0/0/0, b running 1/0/0/0, c waiting 1/0/0/0, d waiting 1/0/0/0", g.states())
			for _, name := range []string{"b", "a", "c", "d"} {
				require.Equal(s, 1, g.run(name), name)
			}
			require.Equal(s, "completed, a completed 0/1/0/0, b completed 0/1/0/0, c completed 0/1/0/0, d completed 0/1/0/0",
				g.states())
		},
	},
	{
		name:        "Flow/an edge to a node that has failed handles the failure",
		explanation: "the flow has counted it before, and would have failed for ever",
		run: func(s *suite) {
			g := s.graph("a 1, b 1")
			require.NoError(s, s.finish(failed(g.start("a")[0].Lease())))
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return g.add(ctx, tx, "c 1, a>c run") })
			require.Equal(s, 1, g.run("b"))
			require.Equal(s, 1, g.run("c"))
			require.Equal(s, "completed, a failed 0/0/1/0, b completed 0/1/0/0, c completed 0/1/0/0", g.states())
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return g.store.RetryFlow(ctx, tx, g.id) })
			g.settle()
			require.Equal(s, 1, g.run("a"))
			require.Equal(s, "completed, a completed 0/1/0/0, b completed 0/1/0/0, c completed 0/1/0/0", g.states())
		},
	},
}
