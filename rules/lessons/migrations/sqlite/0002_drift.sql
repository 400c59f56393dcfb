-- What a correction says about the action that it is about: 0 for nothing, 1 that it was wrong, 2 that it was right.
ALTER TABLE feedback ADD COLUMN verdict INTEGER NOT NULL DEFAULT 0;

UPDATE feedback
SET verdict = CASE WHEN kind IN ('approved', 'redone') THEN 2 ELSE 1 END
WHERE kind IN ('approved', 'redone', 'rejected', 'undone', 'chosen');

-- Versions of rules, and models under an empty rule_id, of whose last decisions many were corrected. The state is
-- right, warns or asks; of what was done before counted_from a person has said that it does not count any more.
CREATE TABLE decision_drift (
  account_id TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  rule_version TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  acted INTEGER NOT NULL,
  corrected INTEGER NOT NULL,
  counted_from TEXT,
  changed_at TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  PRIMARY KEY (account_id, rule_id, rule_version)
);
