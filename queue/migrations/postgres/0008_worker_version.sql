-- The version of the program that a worker is part of, for people.
ALTER TABLE job_workers ADD COLUMN version TEXT;
