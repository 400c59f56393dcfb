-- The role that runs queue.Migrate, and then owns the tables and functions of the queue. It need not own the schema.
--
--   psql -v schema=queue -v role=queue_owner -f migrate.sql
GRANT USAGE, CREATE ON SCHEMA :"schema" TO :"role";
