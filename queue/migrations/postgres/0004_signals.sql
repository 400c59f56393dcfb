-- Signals of a job, and what its handler awaits: the answer of the nth Await of a name is the row with that number. A row with
-- awaited_at alone waits, until the instant if there is one; an answer without a payload says that no signal came in time.
CREATE TABLE job_signals (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  number INTEGER NOT NULL,
  attempt INTEGER,
  awaited_at TIMESTAMPTZ,
  until_at TIMESTAMPTZ,
  answered_at TIMESTAMPTZ,
  payload_json JSON,
  PRIMARY KEY (job_id, name, number)
);

-- Options that few jobs have: how long an attempt may take, as a duration of Go, and the version of the payload's form.
ALTER TABLE jobs ADD COLUMN timeout TEXT;
ALTER TABLE jobs ADD COLUMN payload_version TEXT;
