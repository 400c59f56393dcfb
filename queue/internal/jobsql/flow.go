package jobsql

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// NodeWaits is the condition that a job's node has not opened.
const NodeWaits = `node IS NOT NULL AND EXISTS (SELECT 1 FROM /*q.*/job_nodes WHERE /*q.*/job_nodes.id = node AND waits > 0)`

// NodeHasEnded is the condition that a job belongs to no node of a flow that has not ended, whose handlers may read its
// result.
const NodeHasEnded = `(node IS NULL OR NOT EXISTS (
      SELECT 1
      FROM /*q.*/job_nodes
      JOIN /*q.*/job_flows ON /*q.*/job_flows.id = flow_id
      WHERE /*q.*/job_nodes.id = node
        AND /*q.*/job_flows.finished_at IS NULL))`

const (
	flowColumns = `id, name, state, nodes, ended, deadline, created_at, updated_at, finished_at`
	nodeColumns = `id, flow_id, name, state, waits, total, completed, failed, canceled, moving = 1, updated_at,
  finished_at`

	insertFlow = `
INSERT INTO /*q.*/job_flows (id, name, state, nodes, deadline, created_at, updated_at)
VALUES ($1, $2, 'running', 0, $3, $4, $4)`

	selectFlow = `
SELECT ` + flowColumns + `
FROM /*q.*/job_flows
WHERE id = $1`

	selectFlows = `
SELECT ` + flowColumns + `
FROM /*q.*/job_flows
WHERE id < $1
ORDER BY id DESC
LIMIT $2`

	selectNodes = `
SELECT ` + nodeColumns + `
FROM /*q.*/job_nodes
WHERE flow_id = $1
ORDER BY name`

	selectNode = `
SELECT ` + nodeColumns + `
FROM /*q.*/job_nodes
WHERE id = $1`

	// By the prefix of the index: an edge is between nodes of one flow.
	selectEdges = `
SELECT from_node, to_node, policy, passed
FROM /*q.*/job_edges
WHERE from_node IN (SELECT id FROM /*q.*/job_nodes WHERE flow_id = $1)
ORDER BY from_node, to_node`

	addFlowNodes = `
UPDATE /*q.*/job_flows
SET nodes = nodes + $1,
  updated_at = $2
WHERE id = $3`

	addNodeJobs = `
UPDATE /*q.*/job_nodes
SET total = total + $1,
  updated_at = $2
WHERE id = $3`

	setCanceling = `
UPDATE /*q.*/job_flows
SET state = 'canceling',
  updated_at = $2
WHERE id = $1`

	cancelNodes = `
INSERT INTO /*q.*/job_node_tasks (node, task, reason)
SELECT id, 'cancel', 'the flow was canceled'
FROM /*q.*/job_nodes
WHERE flow_id = $1
  AND finished_at IS NULL`

	selectFlowOfNode = `
SELECT flow_id
FROM /*q.*/job_nodes
WHERE id = $1`

	selectOldFlows = `
SELECT id
FROM /*q.*/job_flows
WHERE finished_at < $1
  AND ` + hasNoJobs + `
ORDER BY finished_at
LIMIT $2`

	pruneFlows = `
DELETE FROM /*q.*/job_flows
WHERE finished_at IS NOT NULL
  AND ` + hasNoJobs + `
  AND `

	// The jobs of an ended flow go by their own retention.
	hasNoJobs = `NOT EXISTS (
    SELECT 1
    FROM /*q.*/job_nodes
    JOIN /*q.*/jobs ON /*q.*/jobs.node = /*q.*/job_nodes.id
    WHERE /*q.*/job_nodes.flow_id = /*q.*/job_flows.id)`
)

var selectNodeJobs = `
SELECT ` + Columns + `
FROM /*q.*/jobs
WHERE node = $1
  AND id > $2
ORDER BY id
LIMIT $3`

var _ driver.FlowStore = (*Store)(nil)

// AddFlow implements [driver.FlowWriter].
func (s *Store) AddFlow(ctx context.Context, tx *driver.WriteTx, f driver.Flow) error {
	if err := s.countEnds(ctx, tx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, insertFlow, f.ID, f.Name, dbtime.Of(f.Deadline), dbtime.Of(tx.Now()))
	return err
}

func (s *Store) countEnds(ctx context.Context, tx *driver.WriteTx) error {
	if s.CountEnds == nil {
		return nil
	}
	return s.CountEnds(ctx, tx)
}

// LockFlow implements [driver.FlowWriter].
func (s *Store) LockFlow(ctx context.Context, tx *driver.WriteTx, flowID string) (*driver.Flow, []driver.Node, error) {
	f, err := s.lockFlow(ctx, tx, flowID)
	if err != nil {
		return nil, nil, err
	}
	nodes, err := queryRows(ctx, tx, scanNode, selectNodes, flowID)
	return f, nodes, err
}

func (s *Store) lockFlow(ctx context.Context, tx *driver.WriteTx, flowID string) (*driver.Flow, error) {
	flows, err := queryRows(ctx, tx, scanFlow, selectFlow+s.forUpdate(), flowID)
	if err == nil && len(flows) == 0 {
		err = driver.ErrFlowNotFound
	}
	if err != nil {
		return nil, err
	}
	return &flows[0], nil
}

// forUpdate locks the selected rows where the engine locks rows.
func (s *Store) forUpdate() string {
	if s.Engine == driver.Postgres {
		return "\nFOR NO KEY UPDATE"
	}
	return ""
}

// AddJobs implements [driver.FlowWriter].
func (s *Store) AddJobs(ctx context.Context, tx *driver.WriteTx, nodeID string, n int) error {
	_, err := tx.ExecContext(ctx, addNodeJobs, n, dbtime.Of(tx.Now()), nodeID)
	return err
}

// CancelFlow implements [driver.FlowWriter].
func (s *Store) CancelFlow(ctx context.Context, tx *driver.WriteTx, flowID string) error {
	f, err := s.lockFlow(ctx, tx, flowID)
	if err != nil {
		return err
	}
	if f.State.Finished() {
		return driver.ErrFinished
	}
	if err := s.stays(ctx, tx, flowID); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, setCanceling, flowID, dbtime.Of(tx.Now())); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, cancelNodes, flowID)
	return err
}

// PruneFlows implements [driver.FlowWriter].
func (s *Store) PruneFlows(ctx context.Context, tx *driver.WriteTx, flowIDs []string) error {
	return s.exec(ctx, tx, pruneFlows, "id", flowIDs)
}

// OldFlows implements [driver.FlowReader].
func (s *Store) OldFlows(ctx context.Context, before time.Time, limit int) ([]string, error) {
	return read(ctx, s, ScanText, selectOldFlows, dbtime.Of(before), limit)
}

// Flow implements [driver.FlowReader].
func (s *Store) Flow(ctx context.Context, flowID string) (*driver.Flow, error) {
	flows, err := read(ctx, s, scanFlow, selectFlow, flowID)
	if err == nil && len(flows) == 0 {
		err = driver.ErrFlowNotFound
	}
	if err != nil {
		return nil, err
	}
	return &flows[0], nil
}

// Flows implements [driver.FlowReader].
func (s *Store) Flows(ctx context.Context, before string, limit int) ([]driver.Flow, error) {
	if before == "" {
		before = "~" // after every id
	}
	return read(ctx, s, scanFlow, selectFlows, before, limit)
}

// Nodes implements [driver.FlowReader].
func (s *Store) Nodes(ctx context.Context, flowID string) ([]driver.Node, error) {
	return read(ctx, s, scanNode, selectNodes, flowID)
}

// Node implements [driver.FlowReader].
func (s *Store) Node(ctx context.Context, nodeID string) (*driver.Node, error) {
	nodes, err := read(ctx, s, scanNode, selectNode, nodeID)
	if err == nil && len(nodes) == 0 {
		err = driver.ErrFlowNotFound
	}
	if err != nil {
		return nil, err
	}
	return &nodes[0], nil
}

// Edges implements [driver.FlowReader].
func (s *Store) Edges(ctx context.Context, flowID string) ([]driver.Edge, error) {
	return read(ctx, s, func(row Scanner) (e driver.Edge, err error) {
		var passed int
		err = row.Scan(&e.From, &e.To, &e.Policy, &passed)
		e.Passed = passed == 1
		return e, err
	}, selectEdges, flowID)
}

// NodeJobs implements [driver.FlowReader].
func (s *Store) NodeJobs(ctx context.Context, nodeID, after string, limit int) ([]driver.Job, error) {
	return s.jobs(ctx, selectNodeJobs, nodeID, after, limit)
}

func scanFlow(row Scanner) (f driver.Flow, err error) {
	var deadline, created, updated, finished Instant
	err = row.Scan(&f.ID, &f.Name, &f.State, &f.Nodes, &f.Ended, &deadline, &created, &updated, &finished)
	f.Deadline, f.CreatedAt, f.UpdatedAt, f.FinishedAt = deadline.Time, created.Time, updated.Time, finished.Time
	return f, err
}

func scanNode(row Scanner) (n driver.Node, err error) {
	var updated, finished Instant
	err = row.Scan(&n.ID, &n.FlowID, &n.Name, &n.State, &n.Waits, &n.Total, &n.Completed, &n.Failed, &n.Canceled,
		&n.Moving, &updated, &finished)
	n.UpdatedAt, n.FinishedAt = updated.Time, finished.Time
	return n, err
}

// flowRules are the invariants of flows: what is counted must equal a full count. A flow that is being moved has its
// jobs in two databases.
var flowRules = []rule{
	{"a node has counted the ends of its jobs", `
SELECT /*q.*/job_nodes.id
FROM /*q.*/job_nodes
WHERE moving = 0
  AND total - completed - failed - canceled <> (
    SELECT COUNT(*)
    FROM /*q.*/jobs
    WHERE node = /*q.*/job_nodes.id
      AND finished_at IS NULL)`},
	{"a node has counted no fewer jobs than there are of each end", `
SELECT ends.node
FROM (
  SELECT node, state, COUNT(*) AS n
  FROM /*q.*/jobs
  WHERE node IS NOT NULL
    AND finished_at IS NOT NULL
  GROUP BY node, state) AS ends
JOIN /*q.*/job_nodes ON /*q.*/job_nodes.id = ends.node
WHERE moving = 0
  AND n > CASE ends.state WHEN 'completed' THEN completed WHEN 'failed' THEN failed ELSE canceled END`},
	{"a node has ended exactly when its jobs have", `
SELECT id
FROM /*q.*/job_nodes
WHERE moving = 0
  AND ((finished_at IS NULL) = (state IN ('completed', 'failed', 'canceled'))
    OR (finished_at IS NOT NULL AND completed + failed + canceled <> total)
    OR (state = 'running' AND total > 0 AND completed + failed + canceled = total))`},
	{"a node without jobs ends when it opens", `
SELECT id
FROM /*q.*/job_nodes
WHERE moving = 0
  AND state = 'running'
  AND total = 0
  AND NOT EXISTS (SELECT 1 FROM /*q.*/job_node_tasks WHERE node = /*q.*/job_nodes.id)`},
	{"a node waits for those before it", `
SELECT id
FROM /*q.*/job_nodes
WHERE waits <> (SELECT COUNT(*) FROM /*q.*/job_edges WHERE to_node = /*q.*/job_nodes.id AND passed = 0)
  OR (state = 'waiting' AND waits = 0)
  OR (state = 'running' AND waits > 0)`},
	{"a flow has counted its nodes and their ends", `
SELECT id
FROM /*q.*/job_flows
WHERE nodes <> (SELECT COUNT(*) FROM /*q.*/job_nodes WHERE flow_id = /*q.*/job_flows.id)
  OR ended <> (SELECT COUNT(*) FROM /*q.*/job_nodes WHERE flow_id = /*q.*/job_flows.id AND finished_at IS NOT NULL)
  OR (finished_at IS NULL) = (state IN ('completed', 'failed', 'canceled'))
  OR (finished_at IS NOT NULL) <> (nodes = ended)`},
	{"a flow is canceled only if one of its nodes or jobs was", `
SELECT id
FROM /*q.*/job_flows
WHERE state = 'canceled'
  AND NOT EXISTS (
    SELECT 1
    FROM /*q.*/job_nodes
    WHERE flow_id = /*q.*/job_flows.id
      AND (/*q.*/job_nodes.state = 'canceled' OR /*q.*/job_nodes.canceled > 0 OR moving = 1))`},
	{"a job that waits for its node is released when that opens", `
SELECT /*q.*/jobs.id
FROM /*q.*/jobs
LEFT JOIN /*q.*/job_nodes ON /*q.*/job_nodes.id = /*q.*/jobs.node
WHERE /*q.*/jobs.state = 'queued'
  AND /*q.*/jobs.hold = ` + Waiting + `
  AND /*q.*/jobs.sequence IS NULL
  AND (/*q.*/job_nodes.id IS NULL
    OR (waits = 0 AND NOT EXISTS (SELECT 1 FROM /*q.*/job_node_tasks WHERE /*q.*/job_node_tasks.node = /*q.*/jobs.node)))`},
}
