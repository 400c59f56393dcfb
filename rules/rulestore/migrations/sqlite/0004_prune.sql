-- What decisions refer to stays when a version is deleted, so rule_history no longer refers to rule_versions.
CREATE TABLE rule_history_kept (
  account_id TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  rule_version TEXT NOT NULL,
  digest TEXT NOT NULL,
  content TEXT,
  PRIMARY KEY (account_id, rule_id, version)
) WITHOUT ROWID;

INSERT INTO rule_history_kept (account_id, rule_id, version, rule_version, digest, content)
SELECT account_id, rule_id, version, rule_version, digest, content
FROM rule_history;

DROP TABLE rule_history;

ALTER TABLE rule_history_kept RENAME TO rule_history;

CREATE INDEX rule_history_rule ON rule_history (rule_id, rule_version);
