package jobsql

import (
	"context"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

const (
	selectFlowHasTasks = `
SELECT EXISTS (SELECT 1 FROM /*q.*/job_node_tasks WHERE node IN (SELECT id FROM /*q.*/job_nodes WHERE flow_id = $1))`

	// A node that never had jobs runs again, too.
	selectRetriable = `
SELECT EXISTS (
  SELECT 1
  FROM /*q.*/job_nodes
  WHERE flow_id = $1
    AND state IN ('failed', 'canceled')
    AND (total = 0 OR EXISTS (
      SELECT 1
      FROM /*q.*/jobs
      WHERE node = /*q.*/job_nodes.id
        AND /*q.*/jobs.state IN ('failed', 'canceled'))))`

	retryTasks = `
INSERT INTO /*q.*/job_node_tasks (node, task)
SELECT id, 'retry'
FROM /*q.*/job_nodes
WHERE flow_id = $1
  AND state IN ('failed', 'canceled')`

	retryNodes = `
UPDATE /*q.*/job_nodes
SET state = 'retrying',
  finished_at = NULL,
  updated_at = $2
WHERE flow_id = $1
  AND state IN ('failed', 'canceled')`

	// Nodes that ran after the end of others wait for them again.
	waitAgain = `
UPDATE /*q.*/job_edges
SET passed = 0
WHERE passed = 1
  AND from_node IN (SELECT id FROM /*q.*/job_nodes WHERE flow_id = $1 AND state = 'retrying')
  AND to_node IN (SELECT id FROM /*q.*/job_nodes WHERE flow_id = $1 AND state = 'retrying')`
)

// A growth is what is written to add nodes to a flow.
type growth struct {
	states map[string]driver.FlowState // of the nodes that the flow has
	waits  map[string]int              // by new node: edges that have not been passed
	after  map[string]bool             // new nodes that have an edge

	nodes, edges, tasks [][]any

	handled bool   // an end that the flow may have counted, and that an edge passes now
	fails   string // why all nodes that have not ended are canceled; empty: they are not
}

// AddNodes implements [driver.FlowWriter].
func (s *Store) AddNodes(
	ctx context.Context, tx *driver.WriteTx, flowID string, nodes []driver.Node, edges []driver.Edge,
) error {
	f, existing, err := s.LockFlow(ctx, tx, flowID)
	if err != nil {
		return err
	}
	if f.State == driver.FlowCanceling || f.State == driver.FlowCanceled {
		return driver.ErrFinished
	}
	g := growth{
		states: make(map[string]driver.FlowState, len(existing)), waits: make(map[string]int), after: make(map[string]bool),
	}
	for i := range existing {
		g.states[existing[i].ID] = existing[i].State
	}
	g.addEdges(edges)
	for i := range nodes {
		n := nodes[i]
		n.FlowID, n.UpdatedAt = flowID, tx.Now()
		g.addNode(n)
	}
	if g.fails != "" {
		for i := range existing {
			if !existing[i].State.Finished() {
				g.addTask(existing[i].ID, "cancel", g.fails)
			}
		}
	}
	if err := s.insertGrowth(ctx, tx, &g); err != nil {
		return err
	}
	if g.handled {
		if _, err := tx.ExecContext(ctx, recountBad, flowID); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, addFlowNodes, len(nodes), dbtime.Of(tx.Now()), flowID)
	return err
}

func (g *growth) addEdges(edges []driver.Edge) {
	for _, e := range edges {
		at := g.states[e.From]
		handled := at.Finished() && e.Policy == driver.EdgeRun
		passed := 0
		if at == driver.FlowCompleted || handled {
			passed = 1
		} else {
			g.waits[e.To]++
		}
		g.after[e.To], g.handled = true, g.handled || handled
		g.edges = append(g.edges, []any{e.From, e.To, string(e.Policy), passed})
		if !at.Finished() || passed == 1 {
			continue
		}
		_, reason, _ := strings.Cut(e.From, "/")
		if reason += " has failed"; at == driver.FlowCanceled {
			reason = strings.TrimSuffix(reason, "failed") + "been canceled"
		}
		if g.addTask(e.To, "cancel", reason); e.Policy == driver.EdgeFail {
			g.fails = reason
		}
	}
}

func (g *growth) addNode(n driver.Node) {
	n.State, n.Waits = driver.FlowRunning, g.waits[n.ID]
	if n.Waits > 0 {
		n.State = driver.FlowWaiting
	}
	switch {
	case g.fails != "":
		g.addTask(n.ID, "cancel", g.fails)
	case n.Waits == 0 && (n.Total == 0 || g.after[n.ID]):
		g.addTask(n.ID, "release", nil)
	}
	g.nodes = append(g.nodes, []any{n.ID, n.FlowID, n.Name, string(n.State), n.Waits, n.Total, n.UpdatedAt})
}

func (g *growth) addTask(node, task string, reason any) {
	g.tasks = append(g.tasks, []any{node, task, reason})
}

func (s *Store) insertGrowth(ctx context.Context, tx *driver.WriteTx, g *growth) error {
	for _, t := range []struct {
		into string
		rows [][]any
	}{
		{"/*q.*/job_nodes (id, flow_id, name, state, waits, total, updated_at)", g.nodes},
		{"/*q.*/job_edges (from_node, to_node, policy, passed)", g.edges},
		{"/*q.*/job_node_tasks (node, task, reason)", g.tasks},
	} {
		if err := s.insertAll(ctx, tx, t.into, t.rows); err != nil {
			return err
		}
	}
	return nil
}

// insertAll inserts rows, many with each statement.
func (s *Store) insertAll(ctx context.Context, tx *driver.WriteTx, into string, rows [][]any) error {
	for some := range slices.Chunk(rows, 100) {
		insert := &statement{dialect: s.Engine}
		insert.add("INSERT INTO " + into + "\nVALUES ")
		for i, values := range some {
			if i > 0 {
				insert.add(", ")
			}
			insert.list(values)
		}
		if _, err := tx.ExecContext(ctx, insert.text.String(), insert.args...); err != nil {
			return err
		}
	}
	return nil
}

// RetryFlow implements [driver.FlowWriter].
func (s *Store) RetryFlow(ctx context.Context, tx *driver.WriteTx, flowID string) error {
	f, nodes, err := s.LockFlow(ctx, tx, flowID)
	if err == nil && !f.State.Finished() {
		err = s.standsStill(ctx, tx, f, nodes)
	}
	if err == nil {
		err = s.stays(ctx, tx, flowID)
	}
	retriable := false
	if err == nil {
		retriable, err = exists(ctx, tx, selectRetriable, flowID)
	}
	if err == nil && !retriable {
		err = driver.ErrFinished
	}
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, retryTasks, flowID); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, retryNodes, flowID, dbtime.Of(tx.Now())); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, waitAgain, flowID)
	return err
}

// standsStill returns [driver.ErrNotFinished] unless all nodes that are left wait for some that have failed or were
// canceled: a job of a canceled node was retried by itself.
func (s *Store) standsStill(ctx context.Context, tx *driver.WriteTx, f *driver.Flow, nodes []driver.Node) error {
	if f.State != driver.FlowRunning || slices.ContainsFunc(nodes, func(n driver.Node) bool {
		return !n.State.Finished() && n.State != driver.FlowWaiting
	}) {
		return driver.ErrNotFinished
	}
	tasks, err := exists(ctx, tx, selectFlowHasTasks, f.ID)
	if err == nil && tasks {
		err = driver.ErrNotFinished
	}
	return err
}

// exists returns the one value that the query selects.
func exists(ctx context.Context, tx *driver.WriteTx, query string, args ...any) (bool, error) {
	found, err := queryRows(ctx, tx, func(row Scanner) (found bool, err error) {
		err = row.Scan(&found)
		return found, err
	}, query, args...)
	return slices.Contains(found, true), err
}
