-- A number of job_turns is never given twice: while a Move takes lines away, what joins one comes after what has left.
CREATE TABLE job_turns_kept (number, sequence, job_id, turn, moving);

INSERT INTO job_turns_kept
SELECT number, sequence, job_id, turn, moving
FROM job_turns;

DROP TABLE job_turns;

CREATE TABLE job_turns (
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  sequence TEXT NOT NULL,
  job_id TEXT NOT NULL UNIQUE,
  turn INTEGER NOT NULL DEFAULT 0,
  moving INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX job_turns_line ON job_turns (sequence, turn DESC, number);

INSERT INTO job_turns (number, sequence, job_id, turn, moving)
SELECT number, sequence, job_id, turn, moving
FROM job_turns_kept;

DROP TABLE job_turns_kept;
