package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/flow"
)

// How a job of the model ends.
const (
	well     = "completed"
	badly    = "failed"
	skipped  = "canceled by its handler"
	canceled = "canceled before it runs"
	deleted  = "deleted before it runs"
	expired  = "expired"
)

// A modelNode is a node of the model: how its jobs end, if they are not canceled before, and what it waits for.
type modelNode struct {
	ends  []string
	after map[int]flow.Policy
}

var graphs = rapid.Custom(func(t *rapid.T) []modelNode {
	nodes := make([]modelNode, rapid.IntRange(1, 6).Draw(t, "nodes"))
	for i := range nodes {
		ends := rapid.SampledFrom([]string{well, well, well, well, well, badly, skipped, canceled, deleted, expired})
		nodes[i].ends = rapid.SliceOfN(ends, 0, 3).Draw(t, "ends")
		nodes[i].after = make(map[int]flow.Policy)
		for p := range i {
			policy := rapid.SampledFrom([]flow.Policy{"", "", driver.EdgeCancel, driver.EdgeRun}).Draw(t, "policy")
			if policy != "" {
				nodes[i].after[p] = policy
			}
		}
	}
	return nodes
})

// outcome returns how the nodes and the flow end. Healed jobs complete, except those that are deleted.
func outcome(nodes []modelNode, healed bool) string {
	states := make([]flow.State, len(nodes))
	words := make([]string, len(nodes))
	whole := flow.Completed
	for i, n := range nodes {
		opens := true
		for p, policy := range n.after {
			opens = opens && (states[p] == flow.Completed || policy == driver.EdgeRun)
		}
		failed, lost := 0, 0
		for _, end := range n.ends {
			switch {
			case end == deleted || !opens:
				lost++
			case healed || end == well:
			case end == badly:
				failed++
			default:
				lost++
			}
		}
		switch {
		case failed > 0:
			states[i] = flow.Failed
		case lost > 0 || !opens:
			states[i] = flow.Canceled
		default:
			states[i] = flow.Completed
		}
		words[i] = fmt.Sprintf("%d %s %d/%d", i, states[i], len(n.ends), len(n.ends))
		handled := slices.ContainsFunc(nodes, func(o modelNode) bool { return o.after[i] == driver.EdgeRun })
		if !handled && (states[i] == flow.Failed || (states[i] == flow.Canceled && whole != flow.Failed)) {
			whole = states[i]
		}
	}
	return strings.Join(append([]string{string(whole)}, words...), ", ")
}

// retriable reports whether a job that has not completed is left, or a node that has none was canceled.
func retriable(nodes []modelNode) bool {
	ended := strings.Split(outcome(nodes, false), ", ")[1:]
	for i, n := range nodes {
		if strings.Contains(ended[i], string(flow.Completed)) {
			continue
		}
		opens := true
		for p, policy := range n.after {
			opens = opens && (policy == driver.EdgeRun || strings.Contains(ended[p], string(flow.Completed)))
		}
		if len(n.ends) == 0 || slices.ContainsFunc(n.ends, func(end string) bool {
			return end != deleted && (end != well || !opens)
		}) {
			return true
		}
	}
	return false
}

const ends queue.Type[string] = "ends"

// begin enqueues the flow, and ends the jobs that no handler sees.
func begin(ctx context.Context, t require.TestingT, q *queue.Queue, nodes []modelNode) (id string) {
	f := flow.New("model", nil)
	for i, n := range nodes {
		var jobs []queue.NewJob
		for _, end := range n.ends {
			opts := &queue.Options{}
			if end == expired {
				opts.ExpiresAt = queue.Now(nil).AddDate(-1, 0, 0)
			}
			jobs = append(jobs, ends.New(end, opts))
		}
		var opts []flow.Option
		for p, policy := range n.after {
			if policy == driver.EdgeRun {
				opts = append(opts, flow.AfterEnd(strconv.Itoa(p)))
			} else {
				opts = append(opts, flow.After(strconv.Itoa(p)))
			}
		}
		f.AddMany(strconv.Itoa(i), slices.Values(jobs), opts...)
	}
	id, err := flow.Enqueue(ctx, q, f)
	require.NoError(t, err)
	for i := range nodes {
		for job, err := range flow.Jobs(ctx, q, id, strconv.Itoa(i)) {
			require.NoError(t, err)
			switch string(job.Payload) {
			case `"` + canceled + `"`:
				require.NoError(t, q.Cancel(ctx, job.ID))
			case `"` + deleted + `"`:
				require.NoError(t, q.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
					_, err := tx.ExecContext(ctx, "DELETE FROM jobs WHERE id = $1", job.ID)
					return err
				}))
			}
		}
	}
	return id
}

// A healer has jobs end as the model says, until it heals them.
type healer struct{ healed atomic.Bool }

func (h *healer) register(d *queue.Dispatcher) {
	queue.Handle(d, ends, func(_ context.Context, w *queue.Work[string]) error {
		switch {
		case h.healed.Load():
			return nil
		case w.Payload == badly:
			return queue.Fatal(errors.New("broken"))
		case w.Payload == skipped:
			return queue.Cancel(errors.New("pointless"))
		}
		return nil
	})
}

// ofModel runs flows to their end, heals what was broken and retries them.
func ofModel(t testing.TB, q *queue.Queue, all ...[]modelNode) {
	var h healer
	ids := make([]string, len(all))
	for i, nodes := range all {
		ids[i] = begin(t.Context(), t, q, nodes)
	}
	work(t, q, h.register)
	for i, nodes := range all {
		require.Equal(t, outcome(nodes, false), shape(t, q, ids[i]), "%v", nodes)
	}
	h.healed.Store(true)
	require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE jobs SET expires_at = NULL")
		return err
	}))
	for i, nodes := range all {
		err := flow.Retry(t.Context(), q, ids[i])
		if !retriable(nodes) {
			require.ErrorIs(t, err, queue.ErrFinished)
			continue
		}
		require.NoError(t, err)
	}
	work(t, q, h.register)
	for i, nodes := range all {
		require.Equal(t, outcome(nodes, true), shape(t, q, ids[i]), "retried: %v", nodes)
	}
}

// Flows of all shapes end as a model of a few lines says, also when they are retried.
func TestFlowsEndAsTheModel(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		q := newQueue(t, dbtest.SQLite(t))
		for i := range 10 {
			some := make([][]modelNode, 10)
			for k := range some {
				some[k] = graphs.Example(100*i + k)
			}
			ofModel(t, q, some...)
		}
	})
	t.Run("postgres", func(t *testing.T) {
		q := newQueue(t, dbtest.Postgres(t))
		some := make([][]modelNode, 30)
		for k := range some {
			some[k] = graphs.Example(1000 + k)
		}
		ofModel(t, q, some...)
	})
}
