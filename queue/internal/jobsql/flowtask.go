package jobsql

import (
	"context"
	"errors"
	"slices"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

const (
	// Tasks is the condition that there is something to do about the jobs of nodes or sequences.
	Tasks = `(` + NodeTasks + ` OR ` + TurnMarks + `)`
	// NodeTasks and TurnMarks are that of nodes, and that of sequences.
	NodeTasks = `EXISTS (SELECT 1 FROM /*q.*/job_node_tasks)`
	TurnMarks = `EXISTS (SELECT 1 FROM /*q.*/job_turn_marks)`

	// portionOfTask bounds the jobs that one statement of a task writes, and portionOfTasks those of a transaction.
	portionOfTask  = 500
	limitOfTask    = "\nLIMIT 500"
	portionOfTasks = 1000
	// costOfTask is what a task without jobs counts.
	costOfTask = 20

	// What is to be done about a node that is being moved is done where it goes on.
	taskStays = `NOT EXISTS (SELECT 1 FROM /*q.*/job_nodes AS moved WHERE moved.id = task.node AND moving = 1)`

	selectTasksLeft = `
SELECT EXISTS (SELECT 1 FROM /*q.*/job_node_tasks AS task WHERE ` + taskStays + `)
  OR ` + TurnMarks

	selectTask = `
SELECT id, node, task, after_id, COALESCE(reason, '')
FROM /*q.*/job_node_tasks AS task
WHERE ` + taskStays + `
ORDER BY id
LIMIT 1`

	// Where others do tasks meanwhile, those of one node still follow each other: what is retried after it was canceled
	// would run. By an expression, so that the planner expects many tasks of a node and takes the first by the index.
	selectFreeTask = `
SELECT id, node, task, after_id, COALESCE(reason, '')
FROM /*q.*/job_node_tasks AS task
WHERE id = (SELECT MIN(id) FROM /*q.*/job_node_tasks AS earliest WHERE earliest.node || '' = task.node)
  AND ` + taskStays + `
ORDER BY id
LIMIT 1
FOR UPDATE SKIP LOCKED`

	deleteTask = `
DELETE FROM /*q.*/job_node_tasks
WHERE id = $1`

	moveTask = `
UPDATE /*q.*/job_node_tasks
SET after_id = $2
WHERE id = $1`

	releaseJobs = `
UPDATE /*q.*/jobs
SET hold = CASE WHEN limit_key IS NULL AND not_before <= $2 THEN ` + None + ` ELSE ` + Scheduled + ` END
WHERE id IN (
  SELECT id
  FROM /*q.*/jobs
  WHERE node = $1
    AND state = 'queued'
    AND hold = ` + Waiting + `
  ORDER BY id` + limitOfTask + `)
  AND state = 'queued'
  AND hold = ` + Waiting

	selectUnfinished = `
SELECT id, FALSE
FROM /*q.*/jobs
WHERE node = $1
  AND id > $2
  AND finished_at IS NULL
ORDER BY id` + limitOfTask

	// Those whose keys others may have taken are retried one by one.
	selectEndedBadly = `
SELECT id, idempotency_key IS NOT NULL
FROM /*q.*/jobs
WHERE node = $1
  AND id > $2
  AND state IN ('failed', 'canceled')
ORDER BY id` + limitOfTask

	// The next claim takes in those that are due.
	retryJobs = `
UPDATE /*q.*/jobs
SET state = 'queued',
  hold = CASE WHEN ` + NodeWaits + ` THEN ` + Waiting + ` ELSE ` + Scheduled + ` END,
  not_before = $1,
  failures = 0,
  interruptions = 0,
  crashes = 0,
  updated_at = $1,
  finished_at = NULL
WHERE state IN ('failed', 'canceled')
  AND idempotency_key IS NULL
  AND `

	// What the transaction has ended so far is otherwise counted when it commits.
	countEnds = `SELECT /*q.*/job_nodes_count(COALESCE(current_setting(/*q.*/'postroom.node_ends', TRUE), ''))`

	// The jobs of the node have been retried: whoever waits for them has to be released again if it opened meanwhile.
	endRetry = `
UPDATE /*q.*/job_nodes
SET state = CASE WHEN waits > 0 THEN 'waiting' ELSE 'running' END
WHERE id = $1
  AND state = 'retrying'`

	insertRelease = `
INSERT INTO /*q.*/job_node_tasks (node, task)
SELECT id, 'release'
FROM /*q.*/job_nodes
WHERE id = $1
  AND state = 'running'`

	// A node that no end of a job would end: it has none, or has been retried in vain.
	endNode = `
UPDATE /*q.*/job_nodes
SET state = CASE WHEN failed > 0 THEN 'failed' WHEN canceled > 0 OR $2 = 'cancel' THEN 'canceled' ELSE 'completed' END,
  updated_at = $3,
  finished_at = $3
WHERE id = $1
  AND state IN ('waiting', 'running')
  AND moving = 0
  AND completed + failed + canceled = total
  AND (state = 'running' OR total > 0 OR $2 = 'cancel')`

	// A move has begun meanwhile, and may have had jobs that the task was to find.
	leaveTask = `
INSERT INTO /*q.*/job_node_tasks (node, task, reason)
SELECT id, $2, $3
FROM /*q.*/job_nodes
WHERE id = $1
  AND moving = 1`

	// Jobs that were added to a node while it was canceled: that transaction had the flow, and has committed.
	cancelAgain = `
INSERT INTO /*q.*/job_node_tasks (node, task, reason)
SELECT id, 'cancel', $2
FROM /*q.*/job_nodes
WHERE id = $1
  AND state IN ('waiting', 'running')
  AND moving = 0
  AND completed + failed + canceled < total
  AND EXISTS (SELECT 1 FROM /*q.*/jobs WHERE /*q.*/jobs.node = /*q.*/job_nodes.id AND /*q.*/jobs.state IN ('queued', 'running'))`
)

// A flowTask is something to do about the jobs of a node.
type flowTask struct {
	id                        int64
	node, task, after, reason string
}

func scanTask(row Scanner) (t flowTask, err error) {
	err = row.Scan(&t.id, &t.node, &t.task, &t.after, &t.reason)
	return t, err
}

// DoTasks implements [driver.FlowWriter]. Nodes end after all jobs are written: flows are locked after jobs.
func (s *Store) DoTasks(ctx context.Context, tx *driver.WriteTx) (more bool, err error) {
	next := selectTask
	if s.Engine == driver.Postgres {
		next = selectFreeTask
	}
	giveTurns := s.giveTurns
	if s.GiveTurns != nil {
		giveTurns = s.GiveTurns
	}
	marked, err := giveTurns(ctx, tx)
	if err != nil {
		return false, err
	}
	var ended []flowTask
	for left := portionOfTasks; left > 0; {
		tasks, err := queryRows(ctx, tx, scanTask, next)
		if err != nil {
			return false, err
		}
		if len(tasks) == 0 {
			return marked || len(ended) > 0, s.endTasks(ctx, tx, ended) // nodes that end may leave tasks
		}
		n, done, err := s.doTask(ctx, tx, &tasks[0])
		if err != nil {
			return false, err
		}
		if done {
			ended = append(ended, tasks[0])
		}
		left -= n + costOfTask
	}
	return true, s.endTasks(ctx, tx, ended)
}

// TasksLeft implements [driver.FlowReader].
func (s *Store) TasksLeft(ctx context.Context) (bool, error) {
	left, err := read(ctx, s, func(row Scanner) (left bool, err error) {
		err = row.Scan(&left)
		return left, err
	}, selectTasksLeft)
	return slices.Contains(left, true), err
}

// doTask does a portion, and deletes the task if it is done.
func (s *Store) doTask(ctx context.Context, tx *driver.WriteTx, t *flowTask) (n int, done bool, err error) {
	switch t.task {
	case "release":
		n, err = s.releaseJobs(ctx, tx, t)
		done = n == 0
	case "cancel":
		n, err = s.eachOfTask(ctx, tx, t, selectUnfinished, s.cancelOfTask)
		done = n < portionOfTask
	case "retry":
		n, err = s.eachOfTask(ctx, tx, t, selectEndedBadly, s.retryOfTask)
		done = n < portionOfTask
	default:
		done = true // written by nobody of ours
	}
	if err == nil && done {
		_, err = tx.ExecContext(ctx, deleteTask, t.id)
	}
	return n, done, err
}

func (s *Store) releaseJobs(ctx context.Context, tx *driver.WriteTx, t *flowTask) (int, error) {
	res, err := tx.ExecContext(ctx, releaseJobs, t.node, dbtime.Of(tx.Now()))
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// eachOfTask calls fn with the next jobs of the task, and returns their number.
func (s *Store) eachOfTask(
	ctx context.Context, tx *driver.WriteTx, t *flowTask, query string,
	fn func(ctx context.Context, tx *driver.WriteTx, t *flowTask, jobs []taskJob) error,
) (int, error) {
	jobs, err := queryRows(ctx, tx, func(row Scanner) (j taskJob, err error) {
		err = row.Scan(&j.id, &j.keyed)
		return j, err
	}, query, t.node, t.after)
	if err != nil || len(jobs) == 0 {
		return 0, err
	}
	if err := fn(ctx, tx, t, jobs); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, moveTask, t.id, jobs[len(jobs)-1].id)
	return len(jobs), err
}

// A taskJob is a job that a task is about.
type taskJob struct {
	id    string
	keyed bool
}

func (s *Store) cancelOfTask(ctx context.Context, tx *driver.WriteTx, t *flowTask, jobs []taskJob) error {
	ids := make([]string, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].id
	}
	_, err := s.CancelJobs(ctx, tx, driver.CancelRequest{JobIDs: ids,
		States: []driver.State{driver.StateQueued, driver.StateRunning},
		Reason: func(string) string { return "canceled: " + t.reason }})
	return err
}

var retriedInVain = []error{
	driver.ErrKeyConflict, driver.ErrJobNotFound, driver.ErrNotFinished, driver.ErrFinished,
}

// retryOfTask passes over jobs whose keys others have taken, and those that others have deleted or retried meanwhile.
func (s *Store) retryOfTask(ctx context.Context, tx *driver.WriteTx, _ *flowTask, jobs []taskJob) error {
	var ids []string
	for _, job := range jobs {
		if !job.keyed {
			ids = append(ids, job.id)
			continue
		}
		err := s.RetryJob(ctx, tx, job.id)
		if err != nil && !slices.ContainsFunc(retriedInVain, func(known error) bool { return errors.Is(err, known) }) {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	retry := &statement{dialect: s.Engine, args: []any{dbtime.Of(tx.Now())}}
	retry.in(retryJobs, "id", ids)
	_, err := tx.ExecContext(ctx, retry.text.String(), retry.args...)
	return err
}

func (s *Store) endTasks(ctx context.Context, tx *driver.WriteTx, ended []flowTask) error {
	if len(ended) > 0 && s.Engine == driver.Postgres {
		if _, err := queryRows(ctx, tx, func(Scanner) (any, error) { return nil, nil }, countEnds); err != nil {
			return err
		}
	}
	for _, t := range ended {
		if err := s.endTask(ctx, tx, t); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) endTask(ctx context.Context, tx *driver.WriteTx, t flowTask) error {
	flows, err := queryRows(ctx, tx, ScanText, selectFlowOfNode, t.node)
	if err != nil || len(flows) == 0 {
		return err
	}
	if _, err := s.lockFlow(ctx, tx, flows[0]); err != nil {
		return err
	}
	if t.task == "retry" {
		for _, query := range []string{endRetry, insertRelease} {
			if _, err := tx.ExecContext(ctx, query, t.node); err != nil {
				return err
			}
		}
	}
	_, err = tx.ExecContext(ctx, endNode, t.node, t.task, dbtime.Of(tx.Now()))
	if err == nil {
		_, err = tx.ExecContext(ctx, leaveTask, t.node, t.task, t.reason)
	}
	if err == nil && t.task == "cancel" {
		_, err = tx.ExecContext(ctx, cancelAgain, t.node, t.reason)
	}
	return err
}
