package rulestore

// The statements of the versions, as those in sql.go.

const (
	versionColumns = `
SELECT version, account_id, author, origin, detail, digest, rules, source, created_at
FROM rule_versions`

	sqlVersion     = versionColumns + ` WHERE version = $1`
	sqlLastVersion = versionColumns + ` WHERE account_id = $1 ORDER BY version DESC LIMIT 1`

	sqlVersions   = versionColumns + ` WHERE version < $1 ORDER BY version DESC LIMIT $2`
	sqlVersionsOf = versionColumns + ` WHERE version < $1 AND account_id = $2 ORDER BY version DESC LIMIT $3`

	sqlNextVersion = `
SELECT COALESCE(MAX(version), 0) + 1
FROM rule_versions`

	sqlLastSource = `
SELECT source
FROM rule_versions
WHERE account_id = $1 AND source IS NOT NULL
ORDER BY version DESC
LIMIT 1`

	sqlInsertVersion = `
INSERT INTO rule_versions (version, account_id, author, origin, detail, digest, rules, source, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

	sqlInsertState = `
INSERT INTO rule_history (account_id, rule_id, version, rule_version, digest, content)
VALUES ($1, $2, $3, $4, $5, $6)`

	stateColumns = `
SELECT rule_id, rule_version, digest, content
FROM rule_history`

	sqlLastState = stateColumns + `
WHERE account_id = $1 AND rule_id = $2
ORDER BY version DESC
LIMIT 1`

	// The rules of a version: the last row of each rule up to it.
	sqlStatesAt = stateColumns + ` AS h
WHERE account_id = $1 AND content IS NOT NULL AND version = (
  SELECT MAX(version)
  FROM rule_history AS l
  WHERE l.account_id = h.account_id AND l.rule_id = h.rule_id AND l.version <= $2)`

	sqlStateOfRule = stateColumns + `
WHERE rule_id = $1 AND rule_version = $2 AND content IS NOT NULL
ORDER BY version DESC
LIMIT 1`

	sqlVersionedAccounts = `
SELECT DISTINCT account_id
FROM rule_versions`

	// The newest version that was made before the time, so that its predecessors were replaced before it, and that is
	// not after the oldest of the newest to keep. 0: none.
	sqlFirstToKeep = `
SELECT COALESCE(MAX(version), 0)
FROM rule_versions
WHERE account_id = $1 AND created_at < $2
  AND version <= (SELECT version FROM rule_versions WHERE account_id = $1 ORDER BY version DESC LIMIT 1 OFFSET $3)`

	sqlPruneVersions = `
DELETE FROM rule_versions
WHERE version IN (SELECT version FROM rule_versions WHERE account_id = $1 AND version < $2 LIMIT $3)`

	// A rule as it was before the first version that stays is replaced if a later row is within that version.
	sqlReplacedStates = `
SELECT rule_id, version, rule_version
FROM rule_history AS h
WHERE account_id = $1 AND version < $2 AND EXISTS (
  SELECT 1
  FROM rule_history AS l
  WHERE l.account_id = h.account_id AND l.rule_id = h.rule_id AND l.version > h.version AND l.version <= $2)`

	sqlPruneState = `
DELETE FROM rule_history
WHERE account_id = $1 AND rule_id = $2 AND version = $3`

	sqlSourceKnown = `
SELECT COUNT(*)
FROM rule_versions
WHERE source = $1`
)
