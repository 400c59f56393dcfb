-- A role that enqueues jobs, by the queue's API or by job_enqueue, and can neither see what becomes of them nor change them. With
-- keys that are taken it sees the payload of the job that has the key. Not for coalescing keys, nor for flows: these change other
-- jobs.
--
--   psql -v schema=queue -v role=web -f enqueue.sql
GRANT USAGE ON SCHEMA :"schema" TO :"role";
GRANT INSERT ON :"schema".jobs TO :"role";
GRANT SELECT (id, type, payload_json) ON :"schema".jobs TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON :"schema".job_keys TO :"role";
GRANT INSERT ON :"schema".job_heads, :"schema".job_limit_marks, :"schema".job_turn_marks TO :"role";
GRANT SELECT (job_id), INSERT ON :"schema".job_turns TO :"role";
