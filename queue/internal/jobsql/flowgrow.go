package jobsql

import (
	"context"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
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
