-- A role that looks at the queue, as an operator with queuectl or queueui does, and changes nothing. It sees payloads.
--
--   psql -v schema=queue -v role=operator -f read.sql
GRANT USAGE ON SCHEMA :"schema" TO :"role";
GRANT SELECT ON :"schema".postroom_migrations TO :"role";
GRANT SELECT ON
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
