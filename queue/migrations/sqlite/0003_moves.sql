-- Jobs that a move to another database has deleted here, until it has released them there.
CREATE TABLE job_moves (
  job_id TEXT NOT NULL PRIMARY KEY
) WITHOUT ROWID;

-- Jobs that are being moved: there are none unless a move is under way, or was interrupted.
CREATE INDEX jobs_moving ON jobs (id) WHERE hold = 3;
