-- Who ends very many jobs marks their limit keys with few rows.
ALTER TABLE job_admissions ADD COLUMN others TEXT[] COLLATE "C";

-- One scan goes from any job of a key and type to those that come after it: the order has one direction.
DROP INDEX jobs_waiting;
CREATE INDEX jobs_waiting ON jobs (limit_key, type, (~priority), not_before, id) WHERE state = 'queued' AND hold = 2;

-- IS NOT DISTINCT FROM keeps the planner from jobs_running where it counts what runs of a key, all of which it would read for each.
DROP INDEX jobs_occupying;
CREATE INDEX jobs_occupying ON jobs (limit_key) WHERE state IS NOT DISTINCT FROM 'running' AND limit_key IS NOT NULL;
