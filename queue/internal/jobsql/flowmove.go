package jobsql

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
)

const (
	// nodeIsHeld is the condition that a job belongs to no node, or to one that is frozen.
	nodeIsHeld = `(node IS NULL OR NOT EXISTS (SELECT 1 FROM /*q.*/job_nodes WHERE /*q.*/job_nodes.id = node AND moving = 0))`

	selectFlowsToFreeze = `
SELECT DISTINCT flow_id
FROM /*q.*/job_nodes
WHERE moving = 0
LIMIT $1`

	freezeFlows = `
UPDATE /*q.*/job_nodes
SET moving = 1
WHERE `

	selectFrozenFlows = `
SELECT id
FROM /*q.*/job_flows
WHERE NOT EXISTS (SELECT 1 FROM /*q.*/job_nodes WHERE flow_id = /*q.*/job_flows.id AND moving = 0)
  AND ` + hasNoJobs + `
ORDER BY id
LIMIT $1`

	selectWhetherMoves = `
SELECT EXISTS (SELECT 1 FROM /*q.*/job_nodes WHERE flow_id = $1 AND moving = 1)`

	selectTasksOf = `
SELECT node, task, COALESCE(reason, '')
FROM /*q.*/job_node_tasks
WHERE node IN (SELECT id FROM /*q.*/job_nodes WHERE flow_id = $1)
ORDER BY id`

	deleteTasksOf = `
DELETE FROM /*q.*/job_node_tasks
WHERE node IN (SELECT id FROM /*q.*/job_nodes WHERE `

	deleteFlows = `
DELETE FROM /*q.*/job_flows
WHERE `

	// What the nodes of both databases together are. It is right again when the nodes go on.
	recountFlow = `
UPDATE /*q.*/job_flows
SET nodes = (SELECT COUNT(*) FROM /*q.*/job_nodes WHERE flow_id = /*q.*/job_flows.id),
  ended = (SELECT COUNT(*) FROM /*q.*/job_nodes WHERE flow_id = /*q.*/job_flows.id AND finished_at IS NOT NULL),
  ` + setBad + `
WHERE id = $1`
	recountBad = `
UPDATE /*q.*/job_flows
SET ` + setBad + `
WHERE id = $1`
	setBad = `failed = (SELECT COUNT(*) FROM /*q.*/job_nodes WHERE flow_id = /*q.*/job_flows.id AND state = 'failed' AND ` + unhandled + `),
  canceled = (SELECT COUNT(*) FROM /*q.*/job_nodes WHERE flow_id = /*q.*/job_flows.id AND state = 'canceled' AND ` + unhandled + `)`
	unhandled = `NOT EXISTS (SELECT 1 FROM /*q.*/job_edges WHERE from_node = /*q.*/job_nodes.id AND policy = 'run')`

	mergeNode = `
UPDATE /*q.*/job_nodes
SET state = $2,
  waits = $3,
  total = total + $4,
  completed = completed + $5,
  failed = failed + $6,
  canceled = canceled + $7
WHERE id = $1
  AND moving = 1`

	// One that had ended, and whose jobs have been retried and have ended again meanwhile, ends anew when it goes on.
	reopenNode = `
UPDATE /*q.*/job_nodes
SET state = CASE WHEN waits > 0 THEN 'waiting' ELSE 'running' END,
  finished_at = NULL
WHERE id = $1
  AND finished_at IS NOT NULL
  AND total > 0
  AND completed + failed + canceled = total
  AND state <> CASE WHEN failed > 0 THEN 'failed' WHEN canceled > 0 THEN 'canceled' ELSE 'completed' END`

	// What opened it may have been done there, while it could not end.
	releaseThawed = `
INSERT INTO /*q.*/job_node_tasks (node, task)
SELECT id, 'release'
FROM /*q.*/job_nodes
WHERE id = $1
  AND state = 'running'`

	thawNode = `
UPDATE /*q.*/job_nodes
SET moving = 0
WHERE id = $1`
)

var _ driver.FlowMover = (*Store)(nil)

// FlowsToFreeze implements [driver.FlowMover].
func (s *Store) FlowsToFreeze(ctx context.Context, limit int) ([]string, error) {
	return read(ctx, s, ScanText, selectFlowsToFreeze, limit)
}

// FreezeFlows implements [driver.FlowMover].
func (s *Store) FreezeFlows(ctx context.Context, tx *driver.WriteTx, flowIDs []string) error {
	return s.exec(ctx, tx, freezeFlows, "flow_id", flowIDs)
}

// stays refuses what is to be done to all jobs of a flow while some are in another database.
func (s *Store) stays(ctx context.Context, tx *driver.WriteTx, flowID string) error {
	moves, err := exists(ctx, tx, selectWhetherMoves, flowID)
	if err == nil && moves {
		err = driver.ErrJobMoves
	}
	return err
}

// FrozenFlows implements [driver.FlowMover].
func (s *Store) FrozenFlows(ctx context.Context, limit int) ([]string, error) {
	return read(ctx, s, ScanText, selectFrozenFlows, limit)
}

// MergeFlow implements [driver.FlowMover]. All nodes have what was counted before the first goes on.
func (s *Store) MergeFlow(
	ctx context.Context, tx *driver.WriteTx, flowID string, nodes []driver.Node, tasks []driver.NodeTask,
) error {
	if _, err := s.lockFlow(ctx, tx, flowID); err != nil {
		return err
	}
	merged := make(map[string]bool)
	for _, n := range nodes {
		res, err := tx.ExecContext(ctx, mergeNode, n.ID, string(n.State), n.Waits, n.Total, n.Completed, n.Failed, n.Canceled)
		if err != nil {
			return err
		}
		changed, err := res.RowsAffected()
		if err != nil {
			return err
		}
		merged[n.ID] = changed == 1
	}
	if _, err := tx.ExecContext(ctx, recountFlow, flowID); err != nil {
		return err
	}
	var rows [][]any
	for _, t := range tasks {
		if merged[t.Node] {
			rows = append(rows, []any{t.Node, t.Task, t.Reason})
		}
	}
	if err := s.insertAll(ctx, tx, "/*q.*/job_node_tasks (node, task, reason)", rows); err != nil {
		return err
	}
	for _, n := range nodes {
		if !merged[n.ID] {
			continue
		}
		for _, query := range []string{reopenNode, thawNode, releaseThawed} {
			if _, err := tx.ExecContext(ctx, query, n.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// Tasks implements [driver.FlowMover].
func (s *Store) Tasks(ctx context.Context, flowID string) ([]driver.NodeTask, error) {
	return read(ctx, s, func(row Scanner) (t driver.NodeTask, err error) {
		err = row.Scan(&t.Node, &t.Task, &t.Reason)
		return t, err
	}, selectTasksOf, flowID)
}

// RemoveFlows implements [driver.FlowMover].
func (s *Store) RemoveFlows(ctx context.Context, tx *driver.WriteTx, flowIDs []string) error {
	if len(flowIDs) == 0 {
		return nil
	}
	tasks := s.about(deleteTasksOf, "flow_id", flowIDs)
	tasks.add(")")
	if _, err := tx.ExecContext(ctx, tasks.text.String(), tasks.args...); err != nil {
		return err
	}
	return s.exec(ctx, tx, deleteFlows, "id", flowIDs)
}
