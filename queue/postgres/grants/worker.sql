-- A role that runs dispatchers, enqueues, and operates the queue, but cannot change its tables. It may call queue.Migrate, which
-- finds that there is nothing to do. Apply this again after a migration that has made new tables.
--
--   psql -v schema=queue -v role=worker -f worker.sql
GRANT USAGE ON SCHEMA :"schema" TO :"role";
GRANT SELECT ON :"schema".postroom_migrations TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON
  :"schema".jobs,
  :"schema".job_keys,
  :"schema".job_limits,
  :"schema".job_rates,
  :"schema".job_limit_marks,
  :"schema".job_heads,
  :"schema".job_steps,
  :"schema".job_attempts,
  :"schema".job_logs,
  :"schema".job_workers,
  :"schema".job_schedules,
  :"schema".job_moves,
  :"schema".job_flows,
  :"schema".job_nodes,
  :"schema".job_edges,
  :"schema".job_node_tasks,
  :"schema".job_signals,
  :"schema".job_turns,
  :"schema".job_turn_marks
TO :"role";
