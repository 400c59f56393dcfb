-- The sequence of the job, whose jobs run one after the other, and "true" if the next one runs even if this one fails. A queued
-- job with hold 4 waits for its turn, too.
ALTER TABLE jobs ADD COLUMN sequence TEXT;
ALTER TABLE jobs ADD COLUMN sequence_goes_on TEXT;

-- The lines of the sequences: the jobs that have not ended, and those that have failed and stop their line. The one with turn 1
-- has been let go, or comes first. While a line is being moved nothing of it is let go.
CREATE TABLE job_turns (
  number INTEGER NOT NULL PRIMARY KEY,
  sequence TEXT NOT NULL,
  job_id TEXT NOT NULL UNIQUE,
  turn INTEGER NOT NULL DEFAULT 0,
  moving INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX job_turns_line ON job_turns (sequence, turn DESC, number);

-- Sequences that a claim examines, because something about their lines has changed. Triggers write them that are made when the
-- first flow or sequence is stored.
CREATE TABLE job_turn_marks (
  id INTEGER NOT NULL PRIMARY KEY,
  sequence TEXT NOT NULL
);
