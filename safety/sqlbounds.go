package safety

import "github.com/postroom-go/postroom"

const (
	breakerColumns = `COALESCE(safety_breakers.account_id, '') AS "breaker.account_id", COALESCE(safety_breakers.source, '') AS "breaker.source",
  COALESCE(safety_breakers.why, '') AS "breaker.why", safety_breakers.opened_at AS "breaker.opened_at",
  safety_breakers.open_until AS "breaker.open_until", safety_breakers.closed_at AS "breaker.closed_at"`

	selectSettings = `
SELECT why
FROM safety_events
WHERE kind = 'settings'
ORDER BY id DESC
LIMIT 1`

	selectSwitch = `
SELECT stopped, undos, changed_by, why, changed_at, accepted_at
FROM safety_switch
WHERE id = 1`

	setSwitch = `
INSERT INTO safety_switch (id, stopped, undos, changed_by, why, changed_at)
VALUES (1, 1, $1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE
SET stopped = 1,
  undos = excluded.undos,
  changed_by = excluded.changed_by,
  why = excluded.why,
  changed_at = excluded.changed_at`

	// No row: nothing is stopped.
	resetSwitch = `
UPDATE safety_switch
SET stopped = 0,
  undos = $1,
  changed_by = $2,
  why = $3,
  changed_at = $4
WHERE id = 1
  AND stopped = 1`

	acceptRestore = `
INSERT INTO safety_switch (id, stopped, undos, changed_by, why, changed_at, accepted_at)
VALUES (1, 0, 0, '', '', $1, $1)
ON CONFLICT (id) DO UPDATE
SET accepted_at = excluded.accepted_at`

	insertEvent = `
INSERT INTO safety_events (id, kind, account_id, source, changed_by, why, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

	selectEvents = `
SELECT id, kind, account_id, source, changed_by, why, created_at
FROM safety_events
ORDER BY id DESC
LIMIT $1`

	lockModelCount = `
INSERT INTO model_counts (account_id, counted)
VALUES ($1, 1)
ON CONFLICT (account_id) DO UPDATE
SET counted = model_counts.counted + 1`

	// The messages of an account that were received since a time and were decided about, and those of them that models have taken
	// out alone. A batch of rules over earlier mail adds no messages.
	countByModels = `
SELECT COUNT(DISTINCT message_id) AS decided,
  COUNT(DISTINCT CASE WHEN source = 'llm' AND needs_approval = 0 AND action_type IN (?) AND ` + notDry + ` THEN message_id END) AS taken
FROM decisions
WHERE account_id = ?
  AND created_at > ?
  AND decision_key NOT LIKE '` + postroom.BatchKeyPrefix + `%'`

	// At most as many rows as the last parameter are counted.
	countAlone = `
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM decisions
  WHERE account_id = ?
    AND source IN (?)
    AND action_type IN (?)
    AND needs_approval = 0
    AND created_at > ?
    AND ` + notDry + `
  LIMIT ?) AS alone`

	// A dry run has done nothing, and neither has what was not sent again, or refused when it was decided.
	notDry = `NOT EXISTS (
    SELECT 1
    FROM actions
    WHERE actions.decision_id = decisions.id
      AND actions.state IN ('canceled', 'failed')
      AND (actions.error LIKE '` + dryRunMark + `%' OR actions.error LIKE '` + sentMark + `%' OR actions.error LIKE '` + refusedMark + `%'))`

	countFailed = `
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM actions
  JOIN decisions ON decisions.id = actions.decision_id
  WHERE actions.account_id = $1
    AND actions.state = 'failed'
    AND actions.error NOT LIKE '` + refusedMark + `%'
    AND decisions.source = $2
    AND actions.updated_at > $3
  LIMIT $4) AS failed`

	countUndone = `
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM action_links
  JOIN actions ON actions.id = action_links.effect_action_id
  JOIN decisions ON decisions.id = actions.decision_id
  WHERE action_links.relation = 'undo_of'
    AND actions.account_id = $1
    AND decisions.source = $2
    AND action_links.created_at > $3
  LIMIT $4) AS undone`

	selectSource = `
SELECT source
FROM decisions
WHERE id = $1`

	selectBreaker = `
SELECT ` + breakerColumns + `
FROM safety_breakers
WHERE account_id = $1
  AND source = $2`

	selectBreakers = `
SELECT ` + breakerColumns + `
FROM safety_breakers
WHERE closed_at IS NULL
  AND open_until > $1
ORDER BY account_id, source`

	// No row: it is open already.
	openBreaker = `
INSERT INTO safety_breakers (account_id, source, opened_at, open_until, why)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (account_id, source) DO UPDATE
SET opened_at = excluded.opened_at,
  open_until = excluded.open_until,
  why = excluded.why,
  closed_at = NULL
WHERE safety_breakers.closed_at IS NOT NULL
  OR safety_breakers.open_until <= excluded.opened_at`

	closeBreakers = `
UPDATE safety_breakers
SET closed_at = $1
WHERE closed_at IS NULL
  AND open_until > $1
  AND ($2 = '' OR account_id = $2)
RETURNING ` + breakerColumns
)
