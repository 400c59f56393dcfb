-- next_at is NULL while a schedule is paused.
CREATE TABLE job_schedules (
  name TEXT NOT NULL PRIMARY KEY,
  cron TEXT NOT NULL,
  zone TEXT NOT NULL,
  catch_up TEXT NOT NULL,
  type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  options_json TEXT NOT NULL,
  paused INTEGER NOT NULL,
  next_at TEXT,
  last_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX job_schedules_next ON job_schedules (next_at) WHERE next_at IS NOT NULL;
