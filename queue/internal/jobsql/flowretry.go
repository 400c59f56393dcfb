package jobsql

import (
	"context"
	"slices"

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
