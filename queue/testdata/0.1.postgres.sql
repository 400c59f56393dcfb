-- The queue's tables as version 0.1 has written them, on PostgreSQL.
CREATE TABLE job_attempts (
    job_id text NOT NULL,
    attempt integer NOT NULL,
    worker_id text NOT NULL,
    kind text NOT NULL,
    error text NOT NULL,
    stack text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone NOT NULL
);
CREATE TABLE job_heads (
    limit_key text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    priority integer NOT NULL,
    not_before timestamp with time zone NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    open boolean NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');
CREATE TABLE job_keys (
    key text NOT NULL,
    job_id text NOT NULL,
    scope text NOT NULL,
    fingerprint text NOT NULL,
    expires_at timestamp with time zone
);
CREATE TABLE job_limit_marks (
    id bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    limit_key text NOT NULL COLLATE pg_catalog."C",
    others text[] COLLATE pg_catalog."C"
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');
ALTER TABLE job_limit_marks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME job_limit_marks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE job_limits (
    kind text NOT NULL,
    name text NOT NULL,
    paused boolean NOT NULL,
    max_running integer,
    rate integer,
    period_us bigint,
    burst integer,
    updated_at timestamp with time zone NOT NULL
);
CREATE TABLE job_logs (
    job_id text NOT NULL,
    attempt integer NOT NULL,
    line integer NOT NULL,
    at timestamp with time zone NOT NULL,
    level text NOT NULL,
    message text NOT NULL,
    attrs_json json
);
CREATE TABLE job_moves (
    job_id text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE job_rates (
    kind text NOT NULL,
    name text NOT NULL,
    arrival timestamp with time zone NOT NULL
);
CREATE TABLE job_schedules (
    name text NOT NULL COLLATE pg_catalog."C",
    cron text NOT NULL,
    zone text NOT NULL,
    catch_up text NOT NULL,
    type text NOT NULL,
    payload_json json NOT NULL,
    options_json json NOT NULL,
    paused boolean NOT NULL,
    next_at timestamp with time zone,
    last_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE TABLE job_steps (
    job_id text NOT NULL,
    name text NOT NULL,
    attempt integer NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    result_json json
);
CREATE TABLE job_workers (
    id text NOT NULL COLLATE pg_catalog."C",
    beat bigint NOT NULL,
    beat_at timestamp with time zone NOT NULL,
    types_json json
);
CREATE TABLE jobs (
    id text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    payload_json json NOT NULL,
    priority integer NOT NULL,
    state text NOT NULL,
    hold smallint NOT NULL,
    not_before timestamp with time zone NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    interruptions integer DEFAULT 0 NOT NULL,
    crashes integer DEFAULT 0 NOT NULL,
    max_attempts integer NOT NULL,
    worker_id text,
    idempotency_key text,
    key_scope text,
    limit_key text COLLATE pg_catalog."C",
    user_id text,
    tags_json json,
    expires_at timestamp with time zone,
    trace text,
    result_json json,
    last_error text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.05');
CREATE TABLE postroom_migrations (
    package text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL
);
INSERT INTO job_attempts VALUES ('01a2154e-b3df-76e0-969c-fa0c2ee97bae', 1, 'a worker that died', 'failed', 'stored failure', '', '2024-01-02 00:43:29.12102+00', '2024-01-02 00:43:29.142474+00');
INSERT INTO job_attempts VALUES ('01a2154e-b0e0-7d6a-8312-114e9375ef1b', 1, 'worker-1', 'failed', 'handler panicked: stored', 'goroutine 1 [running]: stored', '2024-01-02 00:43:28.399387+00', '2024-01-02 00:43:28.482714+00');
INSERT INTO job_heads VALUES ('account:1', 'pong', 0, '2024-01-02 00:43:29.163186+00', '01a2154e-b40d-71fb-8811-ac797eaac149', true);
INSERT INTO job_heads VALUES ('account:1', 'pong', 0, '2024-01-02 00:43:29.169703+00', '01a2154e-b413-7b9d-a1b9-3140f85dd120', true);
INSERT INTO job_heads VALUES ('coalesce:news', 'paused', 0, '2024-01-02 00:43:29.175052+00', '01a2154e-b419-71af-9015-1a0b7ef784b8', true);
INSERT INTO job_keys VALUES ('once', '01a2154e-b09c-7041-9270-ca491fcdfe27', 'forever', '41e7985138f0ffb3f3163fedad3145e9deec22ebf620c64725a1245547d85d3c', NULL);
INSERT INTO job_keys VALUES ('later', '01a2154e-b310-733a-8638-f131e49942e4', 'unfinished', '2a999d446ae29332581f34f03f0f403f7d5d2672d80a4b1befabc7771d915f5e', NULL);
INSERT INTO job_keys VALUES ('news', '01a2154e-b419-71af-9015-1a0b7ef784b8', 'coalesce', '78c2b2b6d30e4facd840a7621aa05508e08447f9a70ee78dbab62eb65b1a84f4', NULL);
INSERT INTO job_limit_marks OVERRIDING SYSTEM VALUE VALUES (1, '1970-01-01 00:00:00+00', 'account:2', '{}');
INSERT INTO job_limits VALUES ('prefix', 'account:', false, 1, 100, 1000000, 10, '2024-01-02 00:43:28.930098+00');
INSERT INTO job_limits VALUES ('type', 'paused', true, NULL, NULL, NULL, NULL, '2024-01-02 00:43:29.171675+00');
INSERT INTO job_limits VALUES ('prefix', 'coalesce:', false, 1, NULL, NULL, NULL, '2024-01-02 00:43:29.175052+00');
INSERT INTO job_logs VALUES ('01a2154e-b09c-7041-9270-ca491fcdfe27', 1, 1, '2024-01-02 00:43:28.48501+00', 'INFO', 'stored', '{"n":1}');
INSERT INTO job_rates VALUES ('key', 'account:1', '2024-01-02 00:43:28.976735+00');
INSERT INTO job_rates VALUES ('key', 'account:2', '2024-01-02 00:43:29.13102+00');
INSERT INTO job_schedules VALUES ('yearly', '@yearly', 'Europe/Berlin', 'once', 'ping', '10', '{"Priority":0,"NotBefore":"0001-01-01T00:00:00Z","Key":{"Name":"","Scope":"","Period":0},"MaxAttempts":0,"ExpiresAt":"0001-01-01T00:00:00Z","LimitKey":"","UserID":"","Tags":null}', true, NULL, NULL, '2024-01-02 00:43:29.207042+00', '2024-01-02 00:43:29.207042+00');
INSERT INTO job_steps VALUES ('01a2154e-b09c-7041-9270-ca491fcdfe27', 'price', 1, '2024-01-02 00:43:28.484029+00', '2024-01-02 00:43:28.717584+00', '42');
INSERT INTO job_steps VALUES ('01a2154e-b33d-79d0-8a48-be151294a5d9', 'pages', 1, '2024-01-02 00:43:29.099039+00', NULL, '12');
INSERT INTO job_steps VALUES ('01a2154e-b33d-79d0-8a48-be151294a5d9', 'price', 1, '2024-01-02 00:43:29.113793+00', '2024-01-02 00:43:29.113813+00', '43');
INSERT INTO job_workers VALUES ('a worker that died', 0, '2024-01-02 00:43:28.966735+00', NULL);
INSERT INTO jobs VALUES ('01a2154e-b2ff-7898-b1bd-547a25036ace', 'ping', '3', 5, 'queued', 0, '2024-01-02 00:43:28.893534+00', 0, 0, 0, 0, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2024-01-02 00:43:28.893534+00', '2024-01-02 00:43:28.893534+00', NULL, NULL);
INSERT INTO jobs VALUES ('01a2154e-b310-733a-8638-f131e49942e4', 'ping', '4', 0, 'queued', 1, '2100-01-01 00:00:00+00', 0, 0, 0, 0, 5, NULL, 'later', 'unfinished', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2024-01-02 00:43:28.910162+00', '2024-01-02 00:43:28.910162+00', NULL, NULL);
INSERT INTO jobs VALUES ('01a2154e-b33d-79d0-8a48-be151294a5d9', 'pong', '5', 0, 'running', 0, '2024-01-02 00:43:28.955882+00', 1, 0, 0, 0, 5, 'a worker that died', NULL, NULL, 'account:1', NULL, NULL, NULL, NULL, NULL, NULL, '2024-01-02 00:43:28.955882+00', '2024-01-02 00:43:28.966735+00', '2024-01-02 00:43:28.966735+00', NULL);
INSERT INTO jobs VALUES ('01a2154e-b3df-76e0-969c-fa0c2ee97bae', 'pong', '6', 0, 'queued', 1, '2024-01-02 00:43:29.143474+00', 1, 1, 0, 0, 5, 'a worker that died', NULL, NULL, 'account:2', NULL, NULL, NULL, NULL, NULL, 'stored failure', '2024-01-02 00:43:29.117506+00', '2024-01-02 00:43:29.142474+00', '2024-01-02 00:43:29.12102+00', NULL);
INSERT INTO jobs VALUES ('01a2154e-b40d-71fb-8811-ac797eaac149', 'pong', '7', 0, 'queued', 2, '2024-01-02 00:43:29.163186+00', 0, 0, 0, 0, 5, NULL, NULL, NULL, 'account:1', NULL, NULL, NULL, NULL, NULL, NULL, '2024-01-02 00:43:29.163186+00', '2024-01-02 00:43:29.163186+00', NULL, NULL);
INSERT INTO jobs VALUES ('01a2154e-b413-7b9d-a1b9-3140f85dd120', 'pong', '8', 0, 'queued', 2, '2024-01-02 00:43:29.169703+00', 0, 0, 0, 0, 5, NULL, NULL, NULL, 'account:1', NULL, NULL, NULL, NULL, NULL, NULL, '2024-01-02 00:43:29.169703+00', '2024-01-02 00:43:29.169703+00', NULL, NULL);
INSERT INTO jobs VALUES ('01a2154e-b419-71af-9015-1a0b7ef784b8', 'paused', '9', 0, 'queued', 2, '2024-01-02 00:43:29.175052+00', 0, 0, 0, 0, 5, NULL, 'news', 'coalesce', 'coalesce:news', NULL, NULL, NULL, NULL, NULL, NULL, '2024-01-02 00:43:29.175052+00', '2024-01-02 00:43:29.175052+00', NULL, NULL);
INSERT INTO jobs VALUES ('01a2154e-b0e0-7d6a-8312-114e9375ef1b', 'ping', '2', 0, 'failed', 0, '2024-01-02 00:43:28.350871+00', 1, 1, 0, 0, 1, 'worker-1', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'handler panicked: stored', '2024-01-02 00:43:28.350871+00', '2024-01-02 00:43:28.482714+00', '2024-01-02 00:43:28.399387+00', '2024-01-02 00:43:28.482714+00');
INSERT INTO jobs VALUES ('01a2154e-b09c-7041-9270-ca491fcdfe27', 'ping', '1', 0, 'completed', 0, '2024-01-02 00:43:28.281974+00', 1, 0, 0, 0, 5, 'worker-1', 'once', 'forever', NULL, 'ada', '["stored"]', NULL, NULL, '7', NULL, '2024-01-02 00:43:28.281974+00', '2024-01-02 00:43:28.742745+00', '2024-01-02 00:43:28.399387+00', '2024-01-02 00:43:28.742745+00');
INSERT INTO postroom_migrations VALUES ('queue', 1, '0001_initial.sql');
SELECT pg_catalog.setval('job_limit_marks_id_seq', 1, true);
ALTER TABLE ONLY job_attempts
    ADD CONSTRAINT job_attempts_pkey PRIMARY KEY (job_id, attempt);
ALTER TABLE ONLY job_keys
    ADD CONSTRAINT job_keys_pkey PRIMARY KEY (key);
ALTER TABLE ONLY job_limit_marks
    ADD CONSTRAINT job_limit_marks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY job_limits
    ADD CONSTRAINT job_limits_pkey PRIMARY KEY (kind, name);
ALTER TABLE ONLY job_logs
    ADD CONSTRAINT job_logs_pkey PRIMARY KEY (job_id, attempt, line);
ALTER TABLE ONLY job_moves
    ADD CONSTRAINT job_moves_pkey PRIMARY KEY (job_id);
ALTER TABLE ONLY job_rates
    ADD CONSTRAINT job_rates_pkey PRIMARY KEY (kind, name);
ALTER TABLE ONLY job_schedules
    ADD CONSTRAINT job_schedules_pkey PRIMARY KEY (name);
ALTER TABLE ONLY job_steps
    ADD CONSTRAINT job_steps_pkey PRIMARY KEY (job_id, name);
ALTER TABLE ONLY job_workers
    ADD CONSTRAINT job_workers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY postroom_migrations
    ADD CONSTRAINT postroom_migrations_pkey PRIMARY KEY (package, version);
CREATE INDEX job_heads_key ON job_heads USING btree (limit_key);
CREATE INDEX job_heads_open ON job_heads USING btree (type, priority DESC, not_before, id) WHERE open;
CREATE INDEX job_keys_expiring ON job_keys USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX job_limit_marks_due ON job_limit_marks USING btree (due_at, limit_key);
CREATE INDEX job_schedules_next ON job_schedules USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX jobs_expiring ON jobs USING btree (expires_at) WHERE ((state = 'queued'::text) AND (expires_at IS NOT NULL));
CREATE INDEX jobs_finished ON jobs USING btree (state, type, finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX jobs_key ON jobs USING btree (idempotency_key, id) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX jobs_limit_key ON jobs USING btree (((limit_key || ''::text)), id) WHERE (limit_key IS NOT NULL);
CREATE INDEX jobs_moving ON jobs USING btree (id) WHERE (hold = 3);
CREATE INDEX jobs_occupying ON jobs USING btree (limit_key) WHERE ((NOT (state IS DISTINCT FROM 'running'::text)) AND (limit_key IS NOT NULL));
CREATE INDEX jobs_ready ON jobs USING btree (type, priority DESC, not_before, id) WHERE ((state = 'queued'::text) AND (hold = 0));
CREATE INDEX jobs_running ON jobs USING btree (worker_id, type) WHERE (state = 'running'::text);
CREATE INDEX jobs_scheduled ON jobs USING btree (not_before, type) WHERE ((state = 'queued'::text) AND (hold = 1));
CREATE INDEX jobs_tagged ON jobs USING btree (id) WHERE (tags_json IS NOT NULL);
CREATE INDEX jobs_user ON jobs USING btree (user_id, id) WHERE (user_id IS NOT NULL);
CREATE INDEX jobs_waiting ON jobs USING btree (limit_key, type, ((~ priority)), not_before, id) WHERE ((state = 'queued'::text) AND (hold = 2));
ALTER TABLE ONLY job_attempts
    ADD CONSTRAINT job_attempts_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY job_logs
    ADD CONSTRAINT job_logs_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY job_steps
    ADD CONSTRAINT job_steps_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE;
