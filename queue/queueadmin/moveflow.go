package queueadmin

import (
	"context"
	"errors"
	"slices"

	"github.com/postroom-go/postroom/queue/driver"
)

// A flow is frozen in the old database and copied to the new one, frozen too and with nothing counted, before its jobs
// move. When they all have, what the old database has counted is added in the new one, and the flow goes on there. A
// process may die after each commit: a flow that was added once is not added again.

// movesFlows returns the drivers as they move flows. Without them there are none in the old database.
func (m *mover) movesFlows() (from, to driver.FlowMover, ok bool) {
	from, ok = driver.As[driver.FlowMover](m.from.Driver)
	if !ok {
		return nil, nil, false
	}
	to, ok = driver.As[driver.FlowMover](m.to.Driver)
	return from, to, ok
}

// copyFlows freezes and copies the flows that have not been.
func (m *mover) copyFlows(ctx context.Context) error {
	from, _, ok := m.movesFlows()
	if !ok {
		return nil
	}
	for {
		ids, err := from.FlowsToFreeze(ctx, m.cfg.Batch)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			break
		}
		if err := m.freezeFlows(ctx, from, ids); err != nil {
			return err
		}
		if err := m.copyRows(ctx, ids); err != nil {
			return err
		}
	}
	if m.copied {
		return nil
	}
	m.copied = true
	return m.copyFrozen(ctx)
}

// freezeFlows freezes flows when nothing is left to be done about their nodes. It would wait for the end of the move,
// and the jobs of a flow that was canceled would run until then.
func (m *mover) freezeFlows(ctx context.Context, from driver.FlowMover, ids []string) error {
	store, err := m.flowStore()
	for more := true; more && err == nil; {
		err = write(ctx, m.from.Driver, func(ctx context.Context, tx *driver.WriteTx) (err error) {
			if more, err = store.DoTasks(ctx, tx); err != nil {
				return err
			}
			if more {
				return m.from.Notify(ctx, tx)
			}
			return from.FreezeFlows(ctx, tx, ids)
		})
	}
	return err
}

func (m *mover) flowStore() (driver.FlowStore, error) {
	store, ok := driver.As[driver.FlowStore](m.from.Driver)
	if !ok {
		return nil, errors.New("the old database moves flows, and stores none")
	}
	return store, nil
}

// copyFrozen copies all flows: an earlier call may have died when it had frozen them.
func (m *mover) copyFrozen(ctx context.Context) error {
	for after := (*driver.Rows)(nil); ; {
		flows, err := m.from.TableRows(ctx, driver.TableFlows, after, m.cfg.Batch)
		if err != nil || len(flows.Values) == 0 {
			return err
		}
		after = &flows
		if err := m.copyRows(ctx, column(flows, "id")); err != nil {
			return err
		}
	}
}

// copyRows copies flows with those of their nodes that are frozen, and the edges between these, unless the new database
// has them. Nodes that a handler has added since are frozen and copied with the next look.
func (m *mover) copyRows(ctx context.Context, ids []string) error {
	flows, err := m.from.JobRows(ctx, driver.TableFlows, ids)
	if err != nil {
		return err
	}
	nodes, err := m.from.JobRows(ctx, driver.TableNodes, ids)
	if err != nil {
		return err
	}
	moving := slices.Index(nodes.Columns, "moving")
	nodes.Values = slices.DeleteFunc(nodes.Values, func(node []any) bool { return node[moving] != int64(1) })
	known := column(nodes, "id")
	edges, err := m.from.JobRows(ctx, driver.TableEdges, known)
	if err != nil {
		return err
	}
	edges.Values = between(edges, known)
	for _, name := range []string{"total", "completed", "failed", "canceled"} {
		place := slices.Index(nodes.Columns, name)
		for _, values := range nodes.Values {
			values[place] = int64(0)
		}
	}
	return driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error {
		for _, t := range []struct {
			name driver.Table
			rows driver.Rows
		}{{driver.TableFlows, flows}, {driver.TableNodes, nodes}, {driver.TableEdges, edges}} {
			if _, err := m.to.InsertRows(ctx, tx, t.name, t.rows); err != nil {
				return err
			}
		}
		return nil
	})
}

// between returns the edges to one of the nodes.
func between(edges driver.Rows, nodes []string) (found [][]any) {
	known := make(map[string]bool, len(nodes))
	for _, id := range nodes {
		known[id] = true
	}
	for i, to := range column(edges, "to_node") {
		if known[to] {
			found = append(found, edges.Values[i])
		}
	}
	return found
}

// column returns the texts of a column.
func column(rows driver.Rows, name string) []string {
	place := slices.Index(rows.Columns, name)
	texts := make([]string, len(rows.Values))
	for i, values := range rows.Values {
		texts[i], _ = values[place].(string)
	}
	return texts
}

// mergeFlows goes on, in the new database, with the flows whose jobs have all moved.
func (m *mover) mergeFlows(ctx context.Context) error {
	from, to, ok := m.movesFlows()
	if !ok {
		return nil
	}
	for {
		ids, err := from.FrozenFlows(ctx, m.cfg.Batch)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := m.copyRows(ctx, ids); err != nil { // they may have grown
			return err
		}
		for _, id := range ids {
			if err := m.mergeFlow(ctx, from, to, id); err != nil {
				return err
			}
		}
	}
}

func (m *mover) mergeFlow(ctx context.Context, from, to driver.FlowMover, id string) error {
	store, err := m.flowStore()
	if err != nil {
		return err
	}
	nodes, err := store.Nodes(ctx, id)
	if err != nil {
		return err
	}
	tasks, err := from.Tasks(ctx, id)
	if err != nil {
		return err
	}
	err = driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error {
		if err := to.MergeFlow(ctx, tx, id, nodes, tasks); err != nil {
			return err
		}
		return m.to.Notify(ctx, tx)
	})
	if err != nil {
		return err
	}
	return driver.Write(ctx, m.from, func(ctx context.Context, tx *driver.WriteTx) error {
		return from.RemoveFlows(ctx, tx, []string{id})
	})
}
