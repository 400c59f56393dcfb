-- The type that a key belongs to, also when its job is gone. It is NULL where the job was gone before.
ALTER TABLE job_keys ADD COLUMN type TEXT COLLATE "C";

UPDATE job_keys
SET type = jobs.type
FROM jobs
WHERE jobs.id = job_keys.job_id;
