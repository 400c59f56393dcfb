-- next_at is NULL while a schedule is paused.
CREATE TABLE job_schedules (
  name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  cron TEXT NOT NULL,
  zone TEXT NOT NULL,
  catch_up TEXT NOT NULL,
  type TEXT NOT NULL,
  payload_json JSON NOT NULL,
  options_json JSON NOT NULL,
  paused BOOLEAN NOT NULL,
  next_at TIMESTAMPTZ,
  last_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX job_schedules_next ON job_schedules (next_at) WHERE next_at IS NOT NULL;
