package cli

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/queuetest"
)

const flowsListed = `ID        NAME   STATE   NODES  ENDED  CREATED           FINISHED
IDENTITY  batch  failed  2      2      0000-00-00 00:00  0000-00-00 00:00
`

const flowShown = `id        00000000-0000-0000-0000-0000IDENTITY
name      batch
state     failed
nodes     2 of 2 have ended
created   0000-00-00 00:00:00
finished  0000-00-00 00:00:00
NODE   STATE     JOBS  COMPLETED  FAILED  CANCELED  LEFT  AFTER
batch  failed    3     1          2       0         0
then   canceled  1     0          0       1         0     batch
`

const flowAsJSON = `{
  "id": "00000000-0000-0000-0000-0000IDENTITY", "name": "batch", "state": "failed", "nodes": 2, "ended": 2,
  "node_list": [
    {"name": "batch", "state": "failed", "jobs": 3, "completed": 1, "failed": 2, "canceled": 0, "after": []},
    {"name": "then", "state": "canceled", "jobs": 1, "completed": 0, "failed": 0, "canceled": 1,
      "after": [{"name": "batch", "policy": "cancel", "passed": false}]}
  ]
}`

var (
	clock = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?`)
	times = regexp.MustCompile(`,?\s*"\w+_at": "[^"]*"`)
	digit = regexp.MustCompile(`\d`)
)

// golden replaces what differs from run to run.
func golden(text, id string) string {
	text = clock.ReplaceAllStringFunc(text, func(s string) string { return digit.ReplaceAllString(s, "0") })
	text = strings.ReplaceAll(text, id, "00000000-0000-0000-0000-0000IDENTITY")
	text = strings.ReplaceAll(text, id[len(id)-8:], "IDENTITY")
	return regexp.MustCompile(` +\n`).ReplaceAllString(text, "\n")
}

// work runs the jobs that are due; odd ones fail.
func (d *desk) work(fails bool) {
	d.Helper()
	queuetest.Work(d.T, d.q, func(w *queue.Dispatcher) {
		queue.Handle(w, greet, func(_ context.Context, w *queue.Work[int]) error {
			if fails && w.Payload%2 == 1 {
				return queue.Fatal(errors.New("odd"))
			}
			return nil
		})
	})
}

func TestFlowsAreShownAndChanged(t *testing.T) {
	eachEngine(t, func(d *desk) {
		require.Equal(d, "no flows\n", d.did("flows list"))
		graph := flow.Batch(greet.New(1, nil), greet.New(2, nil), greet.New(3, nil)).Then(greet.New(4, nil))
		id, err := flow.Enqueue(d.Context(), d.q, graph)
		require.NoError(d, err)
		r := d.run("flows retry " + id)
		require.Equal(d, ExitUsage, r.status)
		require.Contains(d, r.errors, "has not ended: it is running")
		d.work(true)

		require.Equal(d, flowsListed, golden(d.did("flows list"), id))
		require.Equal(d, "no flows\n", d.did("flows list --state running,completed"))
		require.Contains(d, d.did("flows list --state failed --limit 1 --json"), `"state": "failed"`)
		require.Equal(d, flowShown, golden(d.did("flows show "+id[len(id)-8:]), id))
		shown := d.did("flows show --json " + id)
		require.True(d, json.Valid([]byte(shown)))
		require.JSONEq(d, flowAsJSON, times.ReplaceAllString(golden(shown, id), ""))

		require.Equal(d, "flow "+id+": running\n", d.did("flows retry "+id))
		d.work(false)
		require.Contains(d, d.did("flows show "+id), "completed")
		for _, line := range []string{
			"flows cancel " + id, "flows retry " + id, "flows show none", "flows show %", "flows list --state odd", "flows list --state=",
		} {
			require.Equal(d, ExitUsage, d.run(line).status, line)
		}

		id, err = flow.Enqueue(d.Context(), d.q, graph)
		require.NoError(d, err)
		for job, err := range flow.Jobs(d.Context(), d.q, id, flow.ThenNode) {
			require.NoError(d, err)
			r = d.run("run-now " + job.ID)
			require.Equal(d, ExitUsage, r.status)
			require.Contains(d, r.errors, "it waits for node batch of its flow: 3 of 3 jobs have not ended")
			require.Contains(d, d.did("show "+job.ID), id+"/then")
		}
		require.Equal(d, "flow "+id+": canceled\n", d.did("flows cancel "+id))
		require.Equal(d, ExitUsage, d.run("flows show "+id[:2]).status, "there are two")
	})
}
