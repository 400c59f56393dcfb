-- What a user is to be reminded of. cron and zone are empty for a reminder that comes once. due_at and job_id are those of the job
-- that waits to deliver it: the only one of a reminder that comes once, and that of a snooze of one that recurs, whose own instants
-- are the queue's schedule.
CREATE TABLE reminders (
  id TEXT NOT NULL PRIMARY KEY,
  user_id TEXT NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  cron TEXT NOT NULL,
  zone TEXT NOT NULL,
  state TEXT NOT NULL,
  due_at TEXT,
  job_id TEXT NOT NULL,
  deliveries INTEGER NOT NULL,
  delivered_at TEXT,
  created_at TEXT NOT NULL
);

CREATE INDEX reminders_user ON reminders (user_id, id);

CREATE INDEX reminders_open ON reminders (user_id, id) WHERE state <> 'canceled';
