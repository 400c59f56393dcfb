-- How often a row has changed; 0 for rows from before the log.
ALTER TABLE actions ADD COLUMN rev INTEGER NOT NULL DEFAULT 0;
ALTER TABLE approvals ADD COLUMN rev INTEGER NOT NULL DEFAULT 0;

-- The log of what was decided, permitted and done: chains of signed entries, which are only added.
CREATE TABLE audit_entries (
  lane INTEGER NOT NULL,
  entry BIGINT NOT NULL,
  seen BIGINT NOT NULL,
  account_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  rev INTEGER NOT NULL,
  note TEXT NOT NULL,
  digest TEXT NOT NULL,
  mac TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (lane, entry)
);

-- The ends of the chains. A transaction adds to one that no other holds, so that none waits for another.
CREATE TABLE audit_lanes (
  lane INTEGER NOT NULL PRIMARY KEY,
  entries BIGINT NOT NULL,
  mac TEXT NOT NULL,
  seal TEXT NOT NULL
);

INSERT INTO audit_lanes (lane, entries, mac, seal)
SELECT lane, 0, '', ''
FROM generate_series(1, 64) AS lane;

-- What was started once: a row that is put back does not start again.
CREATE INDEX audit_entries_started ON audit_entries (subject_id) WHERE kind = 'action' AND note = 'executing';
