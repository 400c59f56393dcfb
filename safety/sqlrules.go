package safety

// The index of the entries about rules serves statements that name its kinds. The parameter for the kind is cast: otherwise
// SQLite plans the statement again for each value, because the value may decide whether an index serves, and planning takes ten
// times as long as execution.
const (
	aboutRules = `
WHERE kind IN ('rule', 'rules_version', 'direction', 'llm_rule', 'adoption')`

	ruleEntryColumns = `
SELECT lane, entry, seen, account_id, kind, subject_id, rev, note, digest, mac, created_at
FROM audit_entries`

	selectLastRuleEntry = ruleEntryColumns + aboutRules + `
  AND kind = CAST($1 AS TEXT)
  AND subject_id = $2
ORDER BY rev DESC
LIMIT 1`

	selectRuleEntries = ruleEntryColumns + aboutRules + `
  AND kind = CAST($1 AS TEXT)
  AND subject_id = $2
ORDER BY rev DESC`

	selectLastRuleEntries = ruleEntryColumns + aboutRules + `
  AND kind = CAST($1 AS TEXT)
  AND rev = (
    SELECT MAX(last.rev)
    FROM audit_entries last
    WHERE last.kind IN ('rule', 'rules_version', 'direction', 'llm_rule', 'adoption')
      AND last.kind = audit_entries.kind
      AND last.subject_id = audit_entries.subject_id)
ORDER BY subject_id`

	// Transactions that add entries about rules wait for each other, because an entry counts those about the same rule. SQLite
	// has one writer.
	lockRuleEntries = `
SELECT pg_advisory_xact_lock(hashtextextended('postroom rules ' || current_schema(), 0))`
)
