package drivertest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// A graph is a stored flow whose jobs have the names of their nodes as types.
type graph struct {
	*suite
	store driver.FlowStore
	id    string
	jobs  map[string][]string // the ids, by node
}

// graph stores a flow. A node is described as "name n", with n jobs, and an edge as "from>to policy".
func (s *suite) graph(text string, mods ...func(*driver.InsertJob)) *graph {
	s.Helper()
	store, ok := driver.As[driver.FlowStore](s.d)
	if !ok {
		s.Skip("the driver implements no driver.FlowStore: queue/flow refuses it")
	}
	g := &graph{suite: s, store: store, id: uuid.Must(uuid.NewV7()).String(), jobs: make(map[string][]string)}
	s.write(func(ctx context.Context, tx *driver.WriteTx) error {
		require.NoError(s, store.AddFlow(ctx, tx, driver.Flow{ID: g.id, Name: "f"}))
		return g.add(ctx, tx, text, mods...)
	})
	return g
}

func (g *graph) add(ctx context.Context, tx *driver.WriteTx, text string, mods ...func(*driver.InsertJob)) error {
	var nodes []driver.Node
	var edges []driver.Edge
	waits := make(map[string]bool)
	for part := range strings.SplitSeq(text, ", ") {
		name, rest, _ := strings.Cut(part, " ")
		if from, to, ok := strings.Cut(name, ">"); ok {
			edges = append(edges, driver.Edge{From: g.node(from), To: g.node(to), Policy: driver.EdgePolicy(rest)})
			waits[to] = true
			continue
		}
		n := 0
		_, err := fmt.Sscan(rest, &n)
		require.NoError(g, err)
		nodes = append(nodes, driver.Node{ID: g.node(name), Name: name, Total: n})
	}
	for _, n := range nodes {
		if err := g.insertOf(ctx, tx, n.Name, n.Total, waits[n.Name], mods...); err != nil {
			return err
		}
	}
	return g.store.AddNodes(ctx, tx, g.id, nodes, edges)
}

func (g *graph) insertOf(
	ctx context.Context, tx *driver.WriteTx, name string, n int, waits bool, mods ...func(*driver.InsertJob),
) error {
	jobs := make([]driver.InsertJob, n)
	for i := range jobs {
		jobs[i] = newJob(append(mods, ofType(name))...)
		jobs[i].Node, jobs[i].Waits = g.node(name), waits
		g.jobs[name] = append(g.jobs[name], jobs[i].ID)
	}
	_, err := g.d.Insert(ctx, tx, jobs)
	return err
}

func (g *graph) node(name string) string { return driver.NodeID(g.id, name) }

// start claims all jobs of a node that can be claimed.
func (g *graph) start(name string) []driver.Job {
	g.Helper()
	var jobs []driver.Job
	for range 20 { // tasks are done a portion at a time
		result := g.claimAt(g.now(), "w", 1000, name)
		jobs = append(jobs, result.Jobs...)
		if !result.More {
			break
		}
	}
	return jobs
}

// run completes all jobs of a node that can be claimed, and returns their number.
func (g *graph) run(name string) int {
	g.Helper()
	jobs := g.start(name)
	g.finishAll(jobs)
	return len(jobs)
}

// settle has claims of another type do the tasks.
func (g *graph) settle() {
	g.Helper()
	require.Empty(g, g.start("none"))
}

// states returns the states of the flow and the nodes with their counts: those that have not completed, failed and
// canceled come first.
func (g *graph) states() string {
	g.Helper()
	f, err := g.store.Flow(g.Context(), g.id)
	require.NoError(g, err)
	nodes, err := g.store.Nodes(g.Context(), g.id)
	require.NoError(g, err)
	require.Equal(g, f.State.Finished(), !f.FinishedAt.IsZero())
	words := []string{string(f.State)}
	for _, n := range nodes {
		require.Equal(g, n.State.Finished(), !n.FinishedAt.IsZero(), n.Name)
		words = append(words, fmt.Sprintf("%s %s %d/%d/%d/%d", n.Name, n.State, n.Total-n.Completed-n.Failed-n.Canceled,
			n.Completed, n.Failed, n.Canceled))
	}
	if a, ok := driver.As[driver.Auditor](g.d); ok {
		found, err := a.Violations(g.Context())
		require.NoError(g, err)
		require.Empty(g, found)
	}
	return strings.Join(words, ", ")
}

var flowCases = []conformanceCase{
	{
		name:        "Flow/a node opens when all that it waits for have completed",
		explanation: "the end of the last job and the start of what waits are one transaction",
		run: func(s *suite) {
			g := s.graph("a 2, b 1, c 3, a>c cancel, b>c cancel")
			require.Empty(s, g.start("c"))
			require.Equal(s, driver.FlowWaiting, g.nodeOf("c").State)
			_, err := g.store.Node(s.Context(), g.node("d"))
			require.ErrorIs(s, err, driver.ErrFlowNotFound)
			require.Equal(s, 2, g.run("a"))
			require.Empty(s, g.start("c"))
			require.Equal(s, "running, a completed 0/2/0/0, b running 1/0/0/0, c waiting 3/0/0/0", g.states())
			require.Equal(s, 1, g.run("b"))
			require.Equal(s, "running, a completed 0/2/0/0, b completed 0/1/0/0, c running 3/0/0/0", g.states(),
				"before any claim")
			require.Equal(s, 3, g.run("c"))
			require.Equal(s, "completed, a completed 0/2/0/0, b completed 0/1/0/0, c completed 0/3/0/0", g.states())
		},
	},
	{
		name:        "Flow/every end of a job is counted, whoever writes it",
		explanation: "a job that no handler sees die would otherwise keep what waits for it from ever starting",
		run: func(s *suite) {
			for name, end := range s.waysToEnd() {
				g := s.graph("a 2, b 1, a>b run")
				for range 2 {
					require.Empty(s, g.start("b"), name)
					job := s.claim(1, "a")[0]
					end(job)
					if !s.state(job.ID).Finished() {
						require.NoError(s, s.cancel(job.ID), name)
					}
				}
				require.Equal(s, 1, g.run("b"), name)
			}
			g := s.graph("x 3, y 1, x>y run", func(j *driver.InsertJob) {
				if len(j.Type) == 1 {
					j.ExpiresAt = s.now().Add(time.Hour)
				}
			})
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := tx.ExecContext(ctx, "DELETE FROM "+s.table("jobs")+" WHERE id = $1", g.jobs["x"][0])
				return err
			})
			require.NoError(s, s.cancel(g.jobs["x"][1]))
			require.Equal(s, "running, x running 1/0/0/2, y waiting 1/0/0/0", g.states())
			s.claimAt(s.now().Add(2*time.Hour), "w", 1, "none")
			g.settle()
			require.Equal(s, "canceled, x canceled 0/0/0/3, y canceled 0/0/0/1", g.states(), "they have expired")
		},
	},
	{
		name:        "Flow/what depends on a failure is canceled, runs anyway or fails the flow",
		explanation: "each edge has a policy of its own",
		run: func(s *suite) {
			g := s.graph("a 2, b 1, c 1, d 1, a>b cancel, a>c run, b>d cancel")
			jobs := g.start("a")
			require.NoError(s, s.finish(failed(jobs[0].Lease())))
			require.NoError(s, s.finish(completed(jobs[1].Lease())))
			require.Equal(s, 1, g.run("c"))
			g.settle()
			require.Equal(s, "canceled, a failed 0/1/1/0, b canceled 0/0/0/1, c completed 0/1/0/0, d canceled 0/0/0/1",
				g.states())
			require.Contains(s, s.job(g.jobs["b"][0]).LastError, "a has failed")

			g = s.graph("a 1, b 1, c 2, a>b fail")
			require.NoError(s, s.finish(failed(g.start("a")[0].Lease())))
			g.settle()
			require.Equal(s, "failed, a failed 0/0/1/0, b canceled 0/0/0/1, c canceled 0/0/0/2", g.states())
		},
	},
	{
		name:        "Flow/a node of very many jobs opens, and is canceled, a portion at a time",
		explanation: "no claim waits for a transaction that writes all of them",
		run: func(s *suite) {
			g := s.graph("a 1, b 1100, c 1, a>b cancel, b>c cancel")
			require.Equal(s, 1, g.run("a"))
			require.Equal(s, 1100, g.run("b"))
			require.Equal(s, 1, g.run("c"))
			g = s.graph("a 1, b 1100, c 1, a>b cancel, b>c cancel")
			require.NoError(s, s.finish(failed(g.start("a")[0].Lease())))
			g.settle()
			require.Equal(s, "failed, a failed 0/0/1/0, b canceled 0/0/0/1100, c canceled 0/0/0/1", g.states())
		},
	},
	{
		name:        "Flow/nodes without jobs open and end",
		explanation: "a node that joins others has none",
		run: func(s *suite) {
			g := s.graph("a 0, b 1, c 0, d 0, e 1, a>b cancel, b>c cancel, c>d cancel, d>e cancel")
			g.settle()
			require.Equal(s, 1, g.run("b"))
			require.Equal(s, 1, g.run("e"))
			require.True(s, strings.HasPrefix(g.states(), "completed"))
		},
	},
	{
		name:        "Flow/a canceled flow ends",
		explanation: "jobs of all its nodes are canceled, the running ones too",
		run: func(s *suite) {
			g := s.graph("a 2, b 1, c 0, a>b run, b>c cancel")
			require.Len(s, g.start("a"), 2)
			cancel := func() error {
				return driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
					return g.store.CancelFlow(ctx, tx, g.id)
				})
			}
			require.NoError(s, cancel())
			g.settle()
			require.Equal(s, "canceled, a canceled 0/0/0/2, b canceled 0/0/0/1, c canceled 0/0/0/0", g.states())
			require.ErrorIs(s, cancel(), driver.ErrFinished)
			g.id = "none"
			require.ErrorIs(s, cancel(), driver.ErrFlowNotFound)
		},
	},
	{
		name:        "Flow/the failed part of a flow is retried",
		explanation: "what has completed stays, and what was canceled waits again for what failed",
		run: func(s *suite) {
			g := s.graph("a 2, b 1, c 0, d 1, a>b cancel, b>c cancel, c>d cancel")
			jobs := g.start("a")
			retry := func() error {
				return driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
					return g.store.RetryFlow(ctx, tx, g.id)
				})
			}
			require.ErrorIs(s, retry(), driver.ErrNotFinished)
			require.NoError(s, s.finish(completed(jobs[0].Lease())))
			require.NoError(s, s.finish(failed(jobs[1].Lease())))
			g.settle()
			require.Equal(s, "failed, a failed 0/1/1/0, b canceled 0/0/0/1, c canceled 0/0/0/0, d canceled 0/0/0/1", g.states())
			require.NoError(s, retry())
			g.settle()
			require.Equal(s, "running, a running 1/1/0/0, b waiting 1/0/0/0, c waiting 0/0/0/0, d waiting 1/0/0/0", g.states())
			require.Equal(s, 1, g.run("a"))
			require.Equal(s, 1, g.run("b"))
			require.Equal(s, 1, g.run("d"))
			require.Equal(s, "completed, a completed 0/2/0/0, b completed 0/1/0/0, c completed 0/0/0/0, d completed 0/1/0/0",
				g.states())
			require.ErrorIs(s, retry(), driver.ErrFinished)
		},
	},
	{
		name:        "Flow/a job that is retried counts back",
		explanation: "its node has not ended then, and neither has the flow",
		run: func(s *suite) {
			g := s.graph("a 1, b 1, c 1, a>b cancel, a>c run")
			require.NoError(s, s.finish(failed(g.start("a")[0].Lease())))
			require.Equal(s, 1, g.run("c"))
			g.settle()
			require.NoError(s, s.retry(g.jobs["a"][0]))
			require.Equal(s, "running, a running 1/0/0/0, b canceled 0/0/0/1, c completed 0/1/0/0", g.states())
			require.Equal(s, 1, g.run("a"))
			require.Equal(s, "canceled, a completed 0/1/0/0, b canceled 0/0/0/1, c completed 0/1/0/0", g.states())
			require.NoError(s, s.retry(g.jobs["b"][0]))
			require.Equal(s, 1, g.run("b"))
			require.Equal(s, "completed, a completed 0/1/0/0, b completed 0/1/0/0, c completed 0/1/0/0", g.states())
		},
	},
	{
		name:        "Flow/a flow grows",
		explanation: "jobs and nodes are added by handlers, to what waits and to what runs",
		run: func(s *suite) {
			g := s.graph("a 1, b 0, c 1, a>b cancel, b>c cancel")
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				f, nodes, err := g.store.LockFlow(ctx, tx, g.id)
				require.NoError(s, err)
				require.Equal(s, driver.FlowRunning, f.State)
				require.Len(s, nodes, 3)
				require.NoError(s, g.insertOf(ctx, tx, "b", 3, true))
				require.NoError(s, g.store.AddJobs(ctx, tx, g.node("b"), 3))
				return g.add(ctx, tx, "d 1, c>d cancel")
			})
			require.Equal(s, 1, g.run("a"))
			require.Equal(s, 3, g.run("b"))
			require.Equal(s, 1, g.run("c"))
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return g.add(ctx, tx, "e 1, d>e cancel") })
			require.Equal(s, 1, g.run("d"))
			require.Equal(s, 1, g.run("e"))
			require.True(s, strings.HasPrefix(g.states(), "completed"))
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return g.add(ctx, tx, "f 1, e>f cancel") })
			require.True(s, strings.HasPrefix(g.states(), "running"), "it had ended, and runs again")
			require.Equal(s, 1, g.run("f"))
			require.True(s, strings.HasPrefix(g.states(), "completed"))
		},
	},
	{
		name:        "Flow/a job that opens keeps its own time and its limits",
		explanation: "to be released is not to be due",
		run: func(s *suite) {
			now := s.now()
			s.setLimit(driver.Target{Kind: driver.TargetKey, Name: "one"}, driver.Limit{MaxRunning: 1})
			g := s.graph("a 1, later 1, limited 2, a>later cancel, a>limited cancel",
				func(j *driver.InsertJob) { j.LimitKey = "one" })
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				return g.add(ctx, tx, "due 1, a>due cancel", dueAt(now.Add(time.Hour)))
			})
			require.Equal(s, 1, g.run("a"))
			require.Empty(s, g.start("due"))
			require.Len(s, g.start("limited"), 1)
			require.Empty(s, g.start("later"), "limited, too")
			require.Len(s, s.claimAt(now.Add(2*time.Hour), "w", 1, "due").Jobs, 1)
		},
	},
	{
		name:        "Flow/the jobs of a flow that has not ended are not pruned",
		explanation: "handlers read the results of those that came before",
		run: func(s *suite) {
			g := s.graph("a 1, b 1, a>b cancel")
			require.Equal(s, 1, g.run("a"))
			later := s.now().Add(time.Hour)
			prune := func(name string) int {
				return s.prune(driver.PruneRequest{State: driver.StateCompleted, Type: name, FinishedBefore: later, Limit: 10})
			}
			flows := func() (n int) {
				old, err := g.store.OldFlows(s.Context(), later, 10)
				require.NoError(s, err)
				s.write(func(ctx context.Context, tx *driver.WriteTx) error {
					return g.store.PruneFlows(ctx, tx, []string{g.id})
				})
				return len(old)
			}
			require.Zero(s, prune("a"))
			require.Zero(s, flows())
			require.Equal(s, 1, g.run("b"))
			require.Equal(s, "completed, a completed 0/1/0/0, b completed 0/1/0/0", g.states())
			require.Equal(s, 1, prune("a"))
			require.Equal(s, "completed, a completed 0/1/0/0, b completed 0/1/0/0", g.states())
			require.Zero(s, flows())
			require.Equal(s, 1, prune("b"))
			require.Equal(s, 1, flows())
			require.Zero(s, s.count("job_nodes")+s.count("job_edges")+s.count("job_node_tasks"))
			_, err := g.store.Flow(s.Context(), g.id)
			require.ErrorIs(s, err, driver.ErrFlowNotFound)
		},
	},
	{
		name:        "Flow/flows, edges and jobs are listed",
		explanation: "people look at them, and handlers read results",
		run: func(s *suite) {
			g, other := s.graph("a 2, b 1, a>b run"), s.graph("a 1")
			flows, err := g.store.Flows(s.Context(), "", 10)
			require.NoError(s, err)
			require.Equal(s, []string{other.id, g.id}, []string{flows[0].ID, flows[1].ID})
			flows, err = g.store.Flows(s.Context(), other.id, 10)
			require.NoError(s, err)
			require.Len(s, flows, 1)
			edges, err := g.store.Edges(s.Context(), g.id)
			require.NoError(s, err)
			require.Equal(s, []driver.Edge{{From: g.node("a"), To: g.node("b"), Policy: driver.EdgeRun}}, edges)
			jobs, err := g.store.NodeJobs(s.Context(), g.node("a"), "", 1)
			require.NoError(s, err)
			require.Equal(s, g.jobs["a"][0], jobs[0].ID)
			require.Equal(s, g.node("a"), jobs[0].Node)
			jobs, err = g.store.NodeJobs(s.Context(), g.node("a"), jobs[0].ID, 10)
			require.NoError(s, err)
			require.Len(s, jobs, 1)
			require.Equal(s, g.jobs["a"][1], jobs[0].ID)
		},
	},
}

func (g *graph) nodeOf(name string) driver.Node {
	g.Helper()
	n, err := g.store.Node(g.Context(), g.node(name))
	require.NoError(g, err)
	return *n
}
