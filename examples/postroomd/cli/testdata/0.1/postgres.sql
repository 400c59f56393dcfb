CREATE FUNCTION message_labels_with() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO message_labels (account_id, label_id, at, message_id)
  SELECT NEW.account_id, l.value, COALESCE(NEW.received_at, NEW.created_at), NEW.id
  FROM json_array_elements_text(CASE json_typeof(NEW.labels_json) WHEN 'array' THEN NEW.labels_json ELSE '[]' END) l ON CONFLICT DO NOTHING; RETURN NULL; END $$;

CREATE FUNCTION message_labels_without() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  DELETE FROM message_labels WHERE account_id = OLD.account_id AND at = COALESCE(OLD.received_at, OLD.created_at) AND message_id = OLD.id
  AND label_id IN (SELECT json_array_elements_text(CASE json_typeof(OLD.labels_json) WHEN 'array' THEN OLD.labels_json ELSE '[]' END)); RETURN NULL; END $$;

CREATE TABLE accounts (
    id text NOT NULL,
    provider text NOT NULL,
    email text NOT NULL,
    state text DEFAULT 'active'::text NOT NULL,
    state_reason text DEFAULT ''::text NOT NULL,
    state_since timestamp with time zone,
    granted_scopes text DEFAULT ''::text NOT NULL,
    history_id bigint DEFAULT 0 NOT NULL,
    last_sync_at timestamp with time zone,
    watch_expires_at timestamp with time zone,
    backfill_state text DEFAULT 'none'::text NOT NULL,
    backfill_query text DEFAULT ''::text NOT NULL,
    backfill_page text DEFAULT ''::text NOT NULL,
    backfill_pages bigint DEFAULT 0 NOT NULL,
    backfill_messages bigint DEFAULT 0 NOT NULL,
    backfill_estimate bigint DEFAULT 0 NOT NULL,
    backfill_error text DEFAULT ''::text NOT NULL,
    backfilled_all integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT accounts_backfill_state_check CHECK ((backfill_state = ANY (ARRAY['none'::text, 'running'::text, 'done'::text]))),
    CONSTRAINT accounts_backfilled_all_check CHECK ((backfilled_all = ANY (ARRAY[0, 1]))),
    CONSTRAINT accounts_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'reauthorize'::text, 'removing'::text])))
);

CREATE TABLE action_links (
    cause_action_id text NOT NULL COLLATE pg_catalog."C",
    effect_action_id text NOT NULL COLLATE pg_catalog."C",
    relation text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    void_at timestamp with time zone
);

CREATE TABLE actions (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL,
    message_id text NOT NULL,
    decision_id text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL,
    parameters_json json NOT NULL,
    content_sha256 text NOT NULL,
    state text NOT NULL,
    error text NOT NULL,
    approval_id text NOT NULL,
    job_id text NOT NULL,
    sequence bigint,
    undo_hint_json json,
    report_json json,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    executed_at timestamp with time zone,
    rev integer NOT NULL,
    CONSTRAINT actions_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'executing'::text, 'completed'::text, 'failed'::text, 'canceled'::text, 'rejected'::text, 'pending_approval'::text])))
);

CREATE TABLE approvals (
    id text NOT NULL COLLATE pg_catalog."C",
    action_id text NOT NULL COLLATE pg_catalog."C",
    reasons_json json NOT NULL,
    digest text NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    outcome text NOT NULL,
    approver text NOT NULL,
    why text NOT NULL,
    signature text NOT NULL,
    used_by text NOT NULL,
    CONSTRAINT approvals_outcome_check CHECK ((outcome = ANY (ARRAY['waiting'::text, 'approved'::text, 'rejected'::text, 'withdrawn'::text])))
);

CREATE TABLE audit_entries (
    number bigint NOT NULL,
    account_id text NOT NULL,
    kind text NOT NULL,
    subject_id text NOT NULL,
    rev integer NOT NULL,
    note text NOT NULL,
    digest text NOT NULL,
    hash text NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE broken_messages (
    account_id text NOT NULL,
    provider_message_id text NOT NULL,
    job_id text NOT NULL,
    reason text NOT NULL,
    subject text NOT NULL,
    snippet text NOT NULL,
    raw bytea NOT NULL,
    received_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE decisions (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL,
    message_id text NOT NULL,
    provider_message_id text NOT NULL,
    decision_key text NOT NULL,
    source text NOT NULL,
    action_type text NOT NULL,
    parameters_json json NOT NULL,
    confidence double precision,
    needs_approval integer NOT NULL,
    rationale text NOT NULL,
    rule_id text NOT NULL,
    rule_name text NOT NULL,
    rule_version text NOT NULL,
    safe_mode text NOT NULL,
    model text NOT NULL,
    explanations_json json NOT NULL,
    telemetry_json json NOT NULL,
    sender text NOT NULL,
    subject text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT decisions_source_check CHECK ((source = ANY (ARRAY['deterministic'::text, 'llm'::text, 'none'::text])))
);

CREATE TABLE deterministic_rules (
    id text NOT NULL,
    account_id text NOT NULL,
    name text NOT NULL,
    description text,
    enabled integer NOT NULL,
    disabled_reason text,
    scope text NOT NULL,
    scope_ref text,
    priority integer NOT NULL,
    "position" integer NOT NULL,
    conditions json NOT NULL,
    action text NOT NULL,
    parameters json NOT NULL,
    further_actions json NOT NULL,
    continues integer NOT NULL,
    schedule json NOT NULL,
    authentication text NOT NULL,
    safe_mode text NOT NULL,
    revision bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE discord_messages (
    approval_id text NOT NULL,
    action_id text NOT NULL,
    channel_id text NOT NULL,
    message_id text NOT NULL,
    shown text NOT NULL,
    gone integer NOT NULL,
    started_at timestamp with time zone NOT NULL,
    posted_at timestamp with time zone,
    reminded_at timestamp with time zone
);

CREATE TABLE discord_whitelist (
    user_id text NOT NULL,
    name text NOT NULL,
    added_at timestamp with time zone NOT NULL
);

CREATE TABLE drafts (
    account_id text NOT NULL,
    draft_key text NOT NULL,
    state text NOT NULL,
    rfc_message_id text NOT NULL,
    provider_draft_id text DEFAULT ''::text NOT NULL,
    provider_thread_id text DEFAULT ''::text NOT NULL,
    sent_message_id text DEFAULT ''::text NOT NULL,
    original_message_id text DEFAULT ''::text NOT NULL,
    payload_json text DEFAULT ''::text NOT NULL,
    history_id bigint DEFAULT 0 NOT NULL,
    open_until timestamp with time zone,
    version bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT drafts_state_check CHECK ((state = ANY (ARRAY['creating'::text, 'open'::text, 'sending'::text, 'sent'::text, 'deleted'::text])))
);

CREATE TABLE instructions (
    id text NOT NULL,
    name text NOT NULL,
    scope text NOT NULL,
    scope_ref text NOT NULL,
    content text NOT NULL,
    forbids text NOT NULL,
    enabled integer NOT NULL,
    priority integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    revision bigint NOT NULL
);

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

CREATE TABLE labels (
    account_id text NOT NULL,
    id text NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    type text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    available integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT labels_available_check CHECK ((available = ANY (ARRAY[0, 1]))),
    CONSTRAINT labels_type_check CHECK ((type = ANY (ARRAY['system'::text, 'user'::text])))
);

CREATE TABLE llm_answers (
    key text NOT NULL,
    answer text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE llm_calls (
    id text NOT NULL,
    account_id text NOT NULL,
    purpose text NOT NULL,
    model text NOT NULL,
    state text NOT NULL,
    failure text,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost bigint NOT NULL,
    latency_ms bigint NOT NULL,
    trace_id text,
    request_id text,
    created_at timestamp with time zone NOT NULL,
    about text NOT NULL,
    prompt text NOT NULL,
    answer text
);

CREATE TABLE llm_outages (
    model text NOT NULL,
    account_id text NOT NULL,
    reason text NOT NULL,
    failure text NOT NULL,
    began_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    calls bigint NOT NULL,
    until_at timestamp with time zone
);

CREATE TABLE llm_spend (
    day text NOT NULL,
    account_id text NOT NULL,
    calls bigint NOT NULL,
    tokens bigint NOT NULL,
    cost bigint NOT NULL
);

CREATE TABLE llm_templates (
    account_id text NOT NULL,
    key text NOT NULL,
    message_id text NOT NULL,
    decision text NOT NULL,
    uses bigint NOT NULL,
    made_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE message_labels (
    account_id text NOT NULL,
    label_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    message_id text NOT NULL
);

CREATE TABLE message_locks (
    account_id text NOT NULL,
    message_id text NOT NULL,
    sequence bigint NOT NULL,
    action_id text,
    job_id text
);

CREATE TABLE message_terms (
    account_id text NOT NULL,
    slot integer NOT NULL,
    bucket bigint NOT NULL,
    part integer NOT NULL,
    postings bytea NOT NULL
);

CREATE TABLE messages (
    id text NOT NULL,
    account_id text NOT NULL,
    thread_id text NOT NULL,
    provider_message_id text NOT NULL,
    history_id bigint NOT NULL,
    labels_json json NOT NULL,
    rfc_message_id text NOT NULL,
    in_reply_to text NOT NULL,
    references_json json NOT NULL,
    from_name text NOT NULL,
    from_email text NOT NULL,
    from_key text,
    recipients_json json NOT NULL,
    subject text NOT NULL,
    snippet text NOT NULL,
    headers_json json NOT NULL,
    body_plain text NOT NULL,
    body_html text NOT NULL,
    attachments_json json NOT NULL,
    size bigint NOT NULL,
    received_at timestamp with time zone,
    sent_at timestamp with time zone,
    deleted_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE model_counts (
    account_id text NOT NULL,
    counted bigint NOT NULL
);

CREATE TABLE outbound_messages (
    action_id text NOT NULL,
    account_id text NOT NULL,
    message_type text NOT NULL,
    rfc_message_id text NOT NULL,
    payload_json text NOT NULL,
    sha256 text NOT NULL,
    size bigint NOT NULL,
    history_id bigint DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    open_until timestamp with time zone,
    sent_message_id text DEFAULT ''::text NOT NULL,
    sent_thread_id text DEFAULT ''::text NOT NULL,
    original_message_id text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT outbound_messages_message_type_check CHECK ((message_type = ANY (ARRAY['forward'::text, 'reply'::text])))
);

CREATE TABLE outbound_recipients (
    account_id text NOT NULL,
    email text NOT NULL,
    action_id text NOT NULL,
    message_type text NOT NULL,
    sent_at timestamp with time zone NOT NULL
);

CREATE TABLE postroom_migrations (
    package text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL
);

CREATE TABLE postroomd_probes (
    id integer NOT NULL,
    written bigint NOT NULL
);

CREATE TABLE quota_accounts (
    account_id text NOT NULL,
    arrival timestamp with time zone NOT NULL,
    closed_until timestamp with time zone NOT NULL
);

CREATE TABLE quota_leases (
    id text NOT NULL,
    account_id text NOT NULL,
    holder text NOT NULL,
    units bigint NOT NULL,
    taken_at timestamp with time zone NOT NULL,
    free_at timestamp with time zone NOT NULL
);

CREATE TABLE reconcile_suspects (
    account_id text NOT NULL,
    provider_message_id text NOT NULL
);

CREATE TABLE reconciled_messages (
    account_id text NOT NULL,
    provider_message_id text NOT NULL,
    run bigint NOT NULL,
    labels text NOT NULL,
    last_label text NOT NULL
);

CREATE TABLE reconciliations (
    account_id text NOT NULL,
    run bigint NOT NULL,
    seq bigint NOT NULL,
    cause text NOT NULL,
    phase text NOT NULL,
    history_id bigint NOT NULL,
    since bigint NOT NULL,
    lists_json text NOT NULL,
    page text NOT NULL,
    listed bigint NOT NULL,
    added bigint NOT NULL,
    relabelled bigint NOT NULL,
    deleted bigint NOT NULL,
    restored bigint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT reconciliations_cause_check CHECK ((cause = ANY (ARRAY['gap'::text, 'check'::text]))),
    CONSTRAINT reconciliations_phase_check CHECK ((phase = ANY (ARRAY['list'::text, 'compare'::text, 'missing'::text, 'verify'::text, 'clean'::text, 'done'::text])))
);

CREATE TABLE rule_history (
    account_id text NOT NULL,
    rule_id text NOT NULL,
    version bigint NOT NULL,
    rule_version text NOT NULL,
    digest text NOT NULL,
    content text
);

CREATE TABLE rule_versions (
    version bigint NOT NULL,
    account_id text NOT NULL,
    author text NOT NULL,
    origin text NOT NULL,
    detail text NOT NULL,
    digest text NOT NULL,
    rules integer NOT NULL,
    source text,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE rules_chat_messages (
    session_id text NOT NULL,
    number integer NOT NULL,
    role text NOT NULL,
    content text NOT NULL,
    model text NOT NULL,
    proposal text NOT NULL,
    base text NOT NULL,
    result text NOT NULL,
    accepted_by text NOT NULL,
    accepted_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE rules_chat_sessions (
    id text NOT NULL,
    account_id text NOT NULL,
    begun_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE rules_revision (
    id integer NOT NULL,
    revision bigint NOT NULL,
    CONSTRAINT rules_revision_id_check CHECK ((id = 1))
);

CREATE TABLE safety_breakers (
    account_id text NOT NULL,
    source text NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    open_until timestamp with time zone NOT NULL,
    why text NOT NULL,
    closed_at timestamp with time zone
);

CREATE TABLE safety_events (
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    account_id text NOT NULL,
    source text NOT NULL,
    changed_by text NOT NULL,
    why text NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE safety_keys (
    id integer NOT NULL,
    secret text NOT NULL,
    CONSTRAINT safety_keys_id_check CHECK ((id = 1))
);

CREATE TABLE safety_switch (
    id integer NOT NULL,
    stopped integer NOT NULL,
    undos integer NOT NULL,
    changed_by text NOT NULL,
    why text NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    CONSTRAINT safety_switch_id_check CHECK ((id = 1))
);

CREATE TABLE sent_before (
    mailbox text NOT NULL,
    what text NOT NULL,
    target text NOT NULL,
    action_id text NOT NULL,
    recipient text NOT NULL,
    message_type text NOT NULL,
    certain integer NOT NULL,
    sent_at timestamp with time zone NOT NULL,
    CONSTRAINT sent_before_certain_check CHECK ((certain = ANY (ARRAY[0, 1]))),
    CONSTRAINT sent_before_message_type_check CHECK ((message_type = ANY (ARRAY['forward'::text, 'reply'::text])))
);

CREATE TABLE threads (
    id text NOT NULL,
    account_id text NOT NULL,
    provider_thread_id text NOT NULL,
    subject text NOT NULL,
    snippet text NOT NULL,
    last_message_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE unindexed_messages (
    account_id text NOT NULL,
    message_id text NOT NULL,
    received bigint NOT NULL,
    terms bytea
);

CREATE TABLE wanted_labels (
    account_id text NOT NULL,
    name_key text NOT NULL,
    name text NOT NULL
);

INSERT INTO accounts VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'gmail', 'you@example.com', 'active', '', NULL, '', 1063, '2026-11-26 06:29:53.667826+00', NULL, 'done', '', '', 1, 3, 3, '', 1, '2026-11-26 06:29:53.331067+00', '2026-11-26 06:29:53.667826+00');

INSERT INTO action_links VALUES ('01a2168b-d94c-7185-adf7-0deed3d8758e', '01a2168b-d8a2-72ac-a1c5-da66e7350fd2', 'undo_of', '2026-11-26 06:29:53.607745+00', NULL);

INSERT INTO actions VALUES ('01a2168b-d88e-70ac-897f-ce675e304667', '01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d889-75fa-b00c-ab1554ff0718', '01a2168b-d88d-70b7-b8f9-170e40425709', 'delete', '{}', '', 'pending_approval', '', '', '', NULL, NULL, NULL, '2026-11-26 06:29:53.415212+00', '2026-11-26 06:29:53.415212+00', NULL, 1);
INSERT INTO actions VALUES ('01a2168b-d898-714e-b120-9aa20c76b4bd', '01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d893-7515-83f6-38f0390b390f', '01a2168b-d897-7467-927c-4882f2f70336', 'archive', '{}', '', 'completed', '', '', '01a2168b-d898-7af9-be23-1ce83a19a713', 1, '{"inverse_action":"apply_label","inverse_parameters":{"label":"INBOX"},"before":{"label_ids":["INBOX","UNREAD"]},"after":{"label_ids":["UNREAD"]},"change":{"remove":["INBOX"]}}', NULL, '2026-11-26 06:29:53.413547+00', '2026-11-26 06:29:53.453172+00', '2026-11-26 06:29:53.440466+00', 3);
INSERT INTO actions VALUES ('01a2168b-d8a2-72ac-a1c5-da66e7350fd2', '01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d89c-7438-b12d-78f087e5d1e0', '01a2168b-d8a1-790e-976a-dd7ff17af30c', 'archive', '{}', '', 'completed', '', '', '01a2168b-d8a2-7d27-ac57-783a2ce5f7ba', 1, '{"inverse_action":"apply_label","inverse_parameters":{"label":"INBOX"},"before":{"label_ids":["INBOX","UNREAD"]},"after":{"label_ids":["UNREAD"]},"change":{"remove":["INBOX"]}}', NULL, '2026-11-26 06:29:53.414999+00', '2026-11-26 06:29:53.455713+00', '2026-11-26 06:29:53.448277+00', 3);
INSERT INTO actions VALUES ('01a2168b-d94c-7185-adf7-0deed3d8758e', '01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d89c-7438-b12d-78f087e5d1e0', '01a2168b-d8a1-790e-976a-dd7ff17af30c', 'undo_archive', '{}', '', 'completed', '', '', '01a2168b-d904-72f7-98d8-7c56b4a03b7f', 2, '{"inverse_action":"archive","before":{"label_ids":["UNREAD"]},"after":{"label_ids":["INBOX","UNREAD"]}}', '{"restored":{"add":["INBOX"]},"skipped":{},"left_alone":[]}', '2026-11-26 06:29:53.607745+00', '2026-11-26 06:29:53.62728+00', '2026-11-26 06:29:53.607745+00', 2);

INSERT INTO approvals VALUES ('01a2168b-d88e-7cc1-b784-f8b20320a75f', '01a2168b-d88e-70ac-897f-ce675e304667', '["action is classified as dangerous","action type is in approval_always list"]', 'd2fe6034:068bd86211284cde9e698d7a6faf32ff42f6e6c4c7856f38d86334c84209b2bb', '2026-11-26 06:29:53.415212+00', '2026-12-03 06:29:53.415212+00', NULL, 'waiting', '', '', '', '');

INSERT INTO audit_entries VALUES (1, '', 'event', '01a2168b-d82f-71a2-bdca-4ea2a2aae344', 0, 'settings', 'cf0034b6ff26ed740172b4238aeb2f9f44a1e1a96c9b8a1343ced52dd4cfa1f9', '69328cc698ac037aa31a21974e9911d1d8eb37c6aed02945408b99d051d6e8a6', '2026-11-26 06:29:53.32661+00');
INSERT INTO audit_entries VALUES (2, '01a2168b-d833-7094-806b-b4c4f2301bd2', 'decision', '01a2168b-d88e-70ac-897f-ce675e304667', 1, 'pending_approval', '551e015a1d00685b497ee2504bb320f8bba099dea5b0ad5c8638b351106a77bd', '269667aaaa596243ec2021ad43a3c5f2b9abd441effa1681202d8c2b870fa5b7', '2026-11-26 06:29:53.415212+00');
INSERT INTO audit_entries VALUES (3, '01a2168b-d833-7094-806b-b4c4f2301bd2', 'approval', '01a2168b-d88e-7cc1-b784-f8b20320a75f', 0, 'waiting', 'e9f8ceaaa1ec71451bff6cbeb90fa2e46c5cbad031d1e5fa90c270d356fb8ce6', '912898385cde5e507b500592527d3f77e299e2ffa3650b926908d6d462582d57', '2026-11-26 06:29:53.415212+00');
INSERT INTO audit_entries VALUES (4, '01a2168b-d833-7094-806b-b4c4f2301bd2', 'decision', '01a2168b-d898-714e-b120-9aa20c76b4bd', 1, 'queued', '10f85a500e57ad5ae90a1609b6450792c705a2e76fb070eb3cbcf1ea9488ec0c', '0cd6acc686dbdf24a64f812398bc827fa1867c036bb7ff34691838bed0fec00c', '2026-11-26 06:29:53.413547+00');
INSERT INTO audit_entries VALUES (5, '01a2168b-d833-7094-806b-b4c4f2301bd2', 'decision', '01a2168b-d8a2-72ac-a1c5-da66e7350fd2', 1, 'queued', '3acb8292b7a7723b3b637b8149b362445431ca1b85189b7b32deda30ce27a8a4', 'e2b07b72c17b7c405a41dc7a9bbecef8a9a8ffb137f39986f9bdd123df9864d4', '2026-11-26 06:29:53.414999+00');
INSERT INTO audit_entries VALUES (6, '01a2168b-d833-7094-806b-b4c4f2301bd2', 'action', '01a2168b-d898-714e-b120-9aa20c76b4bd', 3, 'completed', 'fb0ad777626299350c9716a1c6363ec2d30a3c11fe0c9c0d0b3f13c701da4a20', 'b18b9f2467a4de41a18aaf52b37c77ae17610f79402aff6e59717758a033625a', '2026-11-26 06:29:53.453172+00');
INSERT INTO audit_entries VALUES (7, '01a2168b-d833-7094-806b-b4c4f2301bd2', 'action', '01a2168b-d8a2-72ac-a1c5-da66e7350fd2', 3, 'completed', '1551bc00a1dbfd6c8f632e8a1a95a450f4390e83fd84f0b2ab92e6a0a6ba77a3', '6b0710d2ac5c89a18872b1a715f3fa88e1ac52d995fd8a66ec6f71aafceaa0ec', '2026-11-26 06:29:53.455713+00');
INSERT INTO audit_entries VALUES (8, '01a2168b-d833-7094-806b-b4c4f2301bd2', 'undo', '01a2168b-d904-72f7-98d8-7c56b4a03b7f', 0, '01a2168b-d8a2-72ac-a1c5-da66e7350fd2 by root', '', '1efef54d10f156093e89ff079e6f40ddefcd1aef2fcb4ace6863cc110c5277e1', '2026-11-26 06:29:53.533298+00');
INSERT INTO audit_entries VALUES (9, '01a2168b-d833-7094-806b-b4c4f2301bd2', 'action', '01a2168b-d94c-7185-adf7-0deed3d8758e', 1, 'executing', '825538ac52fc87f7d2e21e14493a32d65b6fc33c3e0b22c9ef908c31db554866', '41d54d060175f75dad8d2dd9e4f641aef61f3785ab0889deb486c17f6db6ffd7', '2026-11-26 06:29:53.607745+00');
INSERT INTO audit_entries VALUES (10, '01a2168b-d833-7094-806b-b4c4f2301bd2', 'action', '01a2168b-d94c-7185-adf7-0deed3d8758e', 2, 'completed', '7283d84a80094c400f41b440fc6bac410fe1e0458bda9dec93f34333b17281cd', '7fd68d055235962695bcd344dde362353b645dd112979be2dad07d7bf617901b', '2026-11-26 06:29:53.62728+00');

INSERT INTO decisions VALUES ('01a2168b-d88d-70b7-b8f9-170e40425709', '01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d889-75fa-b00c-ab1554ff0718', '3b4c319838193f70', '', 'deterministic', 'delete', '{}', 1, 1, 'Matched deterministic rule ''Cake'' (priority 100)', '01a2168b-d864-7094-a3b0-e837430db219', 'Cake', 'c7d4446353b1b6dc5d3ff4104cbb4c7b1b328b144a06769aca72fccce2abad31', 'default', '', '{"salient_features":["subject_regex \"^Cake\""],"matched_directions":null,"considered_alternatives":null}', '{"requires_approval":true,"safety_overrides":["dangerous_action","approval_always"],"override_details":["action is classified as dangerous","action type is in approval_always list"]}', 'baker@example.com', 'Cake', '2026-11-26 06:29:53.415212+00');
INSERT INTO decisions VALUES ('01a2168b-d897-7467-927c-4882f2f70336', '01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d893-7515-83f6-38f0390b390f', 'a8578a9fe8c7f512', '', 'deterministic', 'archive', '{}', 1, 0, 'Matched deterministic rule ''Tea'' (priority 100)', '01a2168b-d863-749f-a7ce-bc5a30e4fa09', 'Tea', '7e2d295285dcd90d1a160ef24530607619d021ce3658514c190950ed498656a5', 'default', '', '{"salient_features":["subject_regex \"^Tea\""],"matched_directions":null,"considered_alternatives":null}', '{"requires_approval":false,"safety_overrides":[],"override_details":[]}', 'ann@example.com', 'Tea again', '2026-11-26 06:29:53.413547+00');
INSERT INTO decisions VALUES ('01a2168b-d8a1-790e-976a-dd7ff17af30c', '01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d89c-7438-b12d-78f087e5d1e0', '0c9e76af75026e41', '', 'deterministic', 'archive', '{}', 1, 0, 'Matched deterministic rule ''Tea'' (priority 100)', '01a2168b-d863-749f-a7ce-bc5a30e4fa09', 'Tea', '7e2d295285dcd90d1a160ef24530607619d021ce3658514c190950ed498656a5', 'default', '', '{"salient_features":["subject_regex \"^Tea\""],"matched_directions":null,"considered_alternatives":null}', '{"requires_approval":false,"safety_overrides":[],"override_details":[]}', 'ann@example.com', 'Tea at five', '2026-11-26 06:29:53.414999+00');

INSERT INTO deterministic_rules VALUES ('01a2168b-d863-749f-a7ce-bc5a30e4fa09', '01a2168b-d833-7094-806b-b4c4f2301bd2', 'Tea', NULL, 1, NULL, 'global', NULL, 100, 1, '{"type":"subject_regex","value":"^Tea"}', 'archive', '{}', '[]', 0, '{}', '', 'default', 2, '2026-11-26 06:29:53.377536+00', '2026-11-26 06:29:53.377536+00');
INSERT INTO deterministic_rules VALUES ('01a2168b-d864-7094-a3b0-e837430db219', '01a2168b-d833-7094-806b-b4c4f2301bd2', 'Cake', NULL, 1, NULL, 'global', NULL, 100, 2, '{"type":"subject_regex","value":"^Cake"}', 'delete', '{}', '[]', 0, '{}', '', 'default', 2, '2026-11-26 06:29:53.377536+00', '2026-11-26 06:29:53.377536+00');

INSERT INTO instructions VALUES ('01a2168b-d8dc-7e15-922c-24f0bd2925ac', '', 'sender', 'baker@example.com', 'Keep what the baker writes.', '["trash"]', 1, 100, '2026-11-26 06:29:53.500952+00', '2026-11-26 06:29:53.500952+00', 1);

INSERT INTO job_keys VALUES ('ingest.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2:0c9e76af75026e41', '01a2168b-d87e-7b28-9e8e-61dfde97adb2', 'forever', 'e08e790db9c8be86ea840f08a070379811a49b1ab3cea1bf5dbb5ed7b51da118', NULL);
INSERT INTO job_keys VALUES ('ingest.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2:3b4c319838193f70', '01a2168b-d87e-7b23-8d4e-8a864746ae9a', 'forever', '6fe5586610aeaaa6c599f3e1222993f6cb64bb2a75ffe1de9bba47dc27c96d14', NULL);
INSERT INTO job_keys VALUES ('ingest.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2:a8578a9fe8c7f512', '01a2168b-d87e-7b15-926f-f878aec4ade3', 'forever', '7a673544686c9f91367be74d107d89ff69669139f53ad8465fdde28cc0229e7c', NULL);

INSERT INTO job_steps VALUES ('01a2168b-d898-7af9-be23-1ce83a19a713', 'before', 1, '2026-11-26 06:29:53.447363+00', '2026-11-26 06:29:53.45078+00', '{"label_ids":["INBOX","UNREAD"]}');
INSERT INTO job_steps VALUES ('01a2168b-d8a2-7d27-ac57-783a2ce5f7ba', 'before', 1, '2026-11-26 06:29:53.451855+00', '2026-11-26 06:29:53.452097+00', '{"label_ids":["INBOX","UNREAD"]}');
INSERT INTO job_steps VALUES ('01a2168b-d904-72f7-98d8-7c56b4a03b7f', 'image 01a2168b-d94c-7185-adf7-0deed3d8758e', 1, '2026-11-26 06:29:53.616042+00', '2026-11-26 06:29:53.616919+00', '{"label_ids":["UNREAD"]}');

INSERT INTO jobs VALUES ('01a2168b-d835-753f-87ee-a932220d3ac2', 'labels.sync.gmail', '{"account_id":"01a2168b-d833-7094-806b-b4c4f2301bd2"}', 1, 'completed', 0, '2026-11-26 06:29:53.333398+00', 1, 0, 0, 0, 5, 'vm-2027-10f63824', 'labels.sync.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', 'unfinished', 'gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-26 06:29:53.333398+00', '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.345283+00', '2026-11-26 06:29:53.361787+00');
INSERT INTO jobs VALUES ('01a2168b-d869-70a5-811c-285738061fb4', 'backfill.gmail', '{"account_id":"01a2168b-d833-7094-806b-b4c4f2301bd2"}', -10, 'completed', 0, '2026-11-26 06:29:53.385083+00', 1, 0, 0, 0, 100, 'vm-2027-a2557a1c', 'backfill.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2:first', 'unfinished', 'gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-26 06:29:53.385083+00', '2026-11-26 06:29:53.401979+00', '2026-11-26 06:29:53.38897+00', '2026-11-26 06:29:53.401979+00');
INSERT INTO jobs VALUES ('01a2168b-d87e-7b15-926f-f878aec4ade3', 'ingest.gmail', '{"account_id":"01a2168b-d833-7094-806b-b4c4f2301bd2","message_id":"a8578a9fe8c7f512"}', 1, 'completed', 0, '2026-11-26 06:29:53.401979+00', 1, 0, 0, 0, 100, 'vm-2027-a2557a1c', 'ingest.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2:a8578a9fe8c7f512', 'forever', 'gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', NULL, NULL, NULL, '00-90f43ec50f1064ca59b38df0c8037612-06910f4f165e4cc1-00', NULL, NULL, '2026-11-26 06:29:53.401979+00', '2026-11-26 06:29:53.413547+00', '2026-11-26 06:29:53.40898+00', '2026-11-26 06:29:53.413547+00');
INSERT INTO jobs VALUES ('01a2168b-d87e-7b28-9e8e-61dfde97adb2', 'ingest.gmail', '{"account_id":"01a2168b-d833-7094-806b-b4c4f2301bd2","message_id":"0c9e76af75026e41"}', 1, 'completed', 0, '2026-11-26 06:29:53.401979+00', 1, 0, 0, 0, 100, 'vm-2027-a2557a1c', 'ingest.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2:0c9e76af75026e41', 'forever', 'gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', NULL, NULL, NULL, '00-90f43ec50f1064ca59b38df0c8037612-06910f4f165e4cc1-00', NULL, NULL, '2026-11-26 06:29:53.401979+00', '2026-11-26 06:29:53.414999+00', '2026-11-26 06:29:53.40898+00', '2026-11-26 06:29:53.414999+00');
INSERT INTO jobs VALUES ('01a2168b-d87e-7b23-8d4e-8a864746ae9a', 'ingest.gmail', '{"account_id":"01a2168b-d833-7094-806b-b4c4f2301bd2","message_id":"3b4c319838193f70"}', 1, 'completed', 0, '2026-11-26 06:29:53.401979+00', 1, 0, 0, 0, 100, 'vm-2027-a2557a1c', 'ingest.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2:3b4c319838193f70', 'forever', 'gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', NULL, NULL, NULL, '00-90f43ec50f1064ca59b38df0c8037612-06910f4f165e4cc1-00', NULL, NULL, '2026-11-26 06:29:53.401979+00', '2026-11-26 06:29:53.415212+00', '2026-11-26 06:29:53.40898+00', '2026-11-26 06:29:53.415212+00');
INSERT INTO jobs VALUES ('01a2168b-d898-7af9-be23-1ce83a19a713', 'action.gmail', '{"account_id":"01a2168b-d833-7094-806b-b4c4f2301bd2","action_id":"01a2168b-d898-714e-b120-9aa20c76b4bd"}', 0, 'completed', 0, '2026-11-26 06:29:53.413547+00', 1, 0, 0, 0, 100, 'vm-2027-a2557a1c', 'action.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2:01a2168b-d898-714e-b120-9aa20c76b4bd', 'unfinished', 'gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', NULL, NULL, NULL, '00-fb4134e06006e9f86329e8da88f1b0a5-4b35f7d10b3e15c2-00', NULL, NULL, '2026-11-26 06:29:53.413547+00', '2026-11-26 06:29:53.453172+00', '2026-11-26 06:29:53.435288+00', '2026-11-26 06:29:53.453172+00');
INSERT INTO jobs VALUES ('01a2168b-d8a2-7d27-ac57-783a2ce5f7ba', 'action.gmail', '{"account_id":"01a2168b-d833-7094-806b-b4c4f2301bd2","action_id":"01a2168b-d8a2-72ac-a1c5-da66e7350fd2"}', 0, 'completed', 0, '2026-11-26 06:29:53.414999+00', 1, 0, 0, 0, 100, 'vm-2027-a2557a1c', 'action.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2:01a2168b-d8a2-72ac-a1c5-da66e7350fd2', 'unfinished', 'gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', NULL, NULL, NULL, '00-de75b52da87966269d5343f45eff6904-ab1aff29632f4561-00', NULL, NULL, '2026-11-26 06:29:53.414999+00', '2026-11-26 06:29:53.455713+00', '2026-11-26 06:29:53.444694+00', '2026-11-26 06:29:53.455713+00');
INSERT INTO jobs VALUES ('01a2168b-d8b9-71e7-ae74-e0fb076b619d', 'history.sync.gmail', '{"account_id":"01a2168b-d833-7094-806b-b4c4f2301bd2"}', 1, 'completed', 0, '2026-11-26 06:29:53.465166+00', 1, 0, 0, 0, 5, 'vm-2027-cba11f1f', 'history.sync.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', 'unfinished', 'gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-26 06:29:53.465166+00', '2026-11-26 06:29:53.47265+00', '2026-11-26 06:29:53.469293+00', '2026-11-26 06:29:53.47265+00');
INSERT INTO jobs VALUES ('01a2168b-d92b-7e9d-8187-72acdec66ea5', 'labels.sync.gmail', '{"account_id":"01a2168b-d833-7094-806b-b4c4f2301bd2"}', 1, 'completed', 0, '2026-11-26 06:29:53.579992+00', 1, 0, 0, 0, 5, 'vm-2027-a1069ca1', 'labels.sync.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', 'unfinished', 'gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-26 06:29:53.579992+00', '2026-11-26 06:29:53.610515+00', '2026-11-26 06:29:53.59273+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO jobs VALUES ('01a2168b-d904-72f7-98d8-7c56b4a03b7f', 'undo.action', '{"account_id":"01a2168b-d833-7094-806b-b4c4f2301bd2","original_action_id":"01a2168b-d8a2-72ac-a1c5-da66e7350fd2"}', 0, 'completed', 0, '2026-11-26 06:29:53.533298+00', 1, 0, 0, 0, 100, 'vm-2027-a1069ca1', 'undo.action:01a2168b-d833-7094-806b-b4c4f2301bd2:01a2168b-d8a2-72ac-a1c5-da66e7350fd2', 'unfinished', 'gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-26 06:29:53.533298+00', '2026-11-26 06:29:53.62728+00', '2026-11-26 06:29:53.59273+00', '2026-11-26 06:29:53.62728+00');
INSERT INTO jobs VALUES ('01a2168b-d96d-78f1-8aaa-edb048098dd9', 'history.sync.gmail', '{"account_id":"01a2168b-d833-7094-806b-b4c4f2301bd2"}', 1, 'completed', 0, '2026-11-26 06:29:53.645619+00', 1, 0, 0, 0, 5, 'vm-2027-7cfc80f6', 'history.sync.gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', 'unfinished', 'gmail:01a2168b-d833-7094-806b-b4c4f2301bd2', NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-26 06:29:53.645619+00', '2026-11-26 06:29:53.667826+00', '2026-11-26 06:29:53.649499+00', '2026-11-26 06:29:53.667826+00');

INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'CATEGORY_FORUMS', 'CATEGORY_FORUMS', 'category_forums', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'CATEGORY_PERSONAL', 'CATEGORY_PERSONAL', 'category_personal', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'CATEGORY_PROMOTIONS', 'CATEGORY_PROMOTIONS', 'category_promotions', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'CATEGORY_SOCIAL', 'CATEGORY_SOCIAL', 'category_social', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'CATEGORY_UPDATES', 'CATEGORY_UPDATES', 'category_updates', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'CHAT', 'CHAT', 'chat', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'DRAFT', 'DRAFT', 'draft', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'IMPORTANT', 'IMPORTANT', 'important', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'INBOX', 'INBOX', 'inbox', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'SENT', 'SENT', 'sent', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'SPAM', 'SPAM', 'spam', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'STARRED', 'STARRED', 'starred', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'TRASH', 'TRASH', 'trash', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');
INSERT INTO labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'UNREAD', 'UNREAD', 'unread', 'system', '', 0, '2026-11-26 06:29:53.361787+00', '2026-11-26 06:29:53.610515+00');

INSERT INTO message_labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'INBOX', '2026-11-26 06:29:53.145+00', '01a2168b-d889-75fa-b00c-ab1554ff0718');
INSERT INTO message_labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'UNREAD', '2026-11-26 06:29:53.145+00', '01a2168b-d889-75fa-b00c-ab1554ff0718');
INSERT INTO message_labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'UNREAD', '2026-11-26 06:29:53.146+00', '01a2168b-d893-7515-83f6-38f0390b390f');
INSERT INTO message_labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'INBOX', '2026-11-26 06:29:53.143+00', '01a2168b-d89c-7438-b12d-78f087e5d1e0');
INSERT INTO message_labels VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', 'UNREAD', '2026-11-26 06:29:53.143+00', '01a2168b-d89c-7438-b12d-78f087e5d1e0');

INSERT INTO message_locks VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d893-7515-83f6-38f0390b390f', 1, NULL, NULL);
INSERT INTO message_locks VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d89c-7438-b12d-78f087e5d1e0', 2, NULL, NULL);

INSERT INTO messages VALUES ('01a2168b-d889-75fa-b00c-ab1554ff0718', '01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d888-7593-8442-029b4da01f3c', '3b4c319838193f70', 1028, '["INBOX","UNREAD"]', '2@example.com', '', 'null', 'Bäcker', 'baker@example.com', NULL, '{"to":[{"email":"you@example.com"}]}', 'Cake', 'Chocolate.', '[{"name":"Delivered-To","value":"you@example.com"},{"name":"Return-Path","value":"\u003cbaker@example.com\u003e"},{"name":"From","value":"Bäcker \u003cbaker@example.com\u003e"},{"name":"To","value":"you@example.com"},{"name":"Subject","value":"Cake"},{"name":"Message-ID","value":"\u003c2@example.com\u003e"},{"name":"Date","value":"Mon, 02 Nov 2026 11:00:00 +0000"}]', 'Chocolate.
', '', 'null', 234, '2026-11-26 06:29:53.145+00', '2026-11-02 11:00:00+00', NULL, '2026-11-26 06:29:53.415212+00', '2026-11-26 06:29:53.415212+00');
INSERT INTO messages VALUES ('01a2168b-d89c-7438-b12d-78f087e5d1e0', '01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d89b-75a2-ad09-4837a31368cd', '0c9e76af75026e41', 1063, '["INBOX","UNREAD"]', '1@example.com', '', 'null', 'Ann', 'ann@example.com', NULL, '{"to":[{"email":"you@example.com"}]}', 'Tea at five', 'With lemon?', '[{"name":"Delivered-To","value":"you@example.com"},{"name":"Return-Path","value":"\u003cann@example.com\u003e"},{"name":"From","value":"Ann \u003cann@example.com\u003e"},{"name":"To","value":"you@example.com"},{"name":"Subject","value":"Tea at five"},{"name":"Message-ID","value":"\u003c1@example.com\u003e"},{"name":"Date","value":"Mon, 02 Nov 2026 10:00:00 +0000"}]', 'With lemon?
', '', 'null', 218, '2026-11-26 06:29:53.143+00', '2026-11-02 10:00:00+00', NULL, '2026-11-26 06:29:53.414999+00', '2026-11-26 06:29:53.667826+00');
INSERT INTO messages VALUES ('01a2168b-d893-7515-83f6-38f0390b390f', '01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d891-7725-8ba7-f65cfae97cdd', 'a8578a9fe8c7f512', 1049, '["UNREAD"]', '3@example.com', '', 'null', 'Ann', 'ann@example.com', NULL, '{"to":[{"email":"you@example.com"}]}', 'Tea again', 'No lemon.', '[{"name":"Delivered-To","value":"you@example.com"},{"name":"Return-Path","value":"\u003cann@example.com\u003e"},{"name":"From","value":"Ann \u003cann@example.com\u003e"},{"name":"To","value":"you@example.com"},{"name":"Subject","value":"Tea again"},{"name":"Message-ID","value":"\u003c3@example.com\u003e"},{"name":"Date","value":"Mon, 02 Nov 2026 12:00:00 +0000"}]', 'No lemon.
', '', 'null', 214, '2026-11-26 06:29:53.146+00', '2026-11-02 12:00:00+00', NULL, '2026-11-26 06:29:53.413547+00', '2026-11-26 06:29:53.47265+00');

INSERT INTO postroom_migrations VALUES ('queue', 1, '0001_initial.sql');
INSERT INTO postroom_migrations VALUES ('gmail', 1, '0001_initial.sql');
INSERT INTO postroom_migrations VALUES ('rules', 1, '0001_initial.sql');
INSERT INTO postroom_migrations VALUES ('safety', 1, '0001_initial.sql');
INSERT INTO postroom_migrations VALUES ('audit', 1, '0001_initial.sql');
INSERT INTO postroom_migrations VALUES ('llm', 1, '0001_initial.sql');
INSERT INTO postroom_migrations VALUES ('llm/decide', 1, '0001_initial.sql');
INSERT INTO postroom_migrations VALUES ('llm/guidance', 1, '0001_initial.sql');
INSERT INTO postroom_migrations VALUES ('ruleschat', 1, '0001_initial.sql');
INSERT INTO postroom_migrations VALUES ('discord', 1, '0001_initial.sql');
INSERT INTO postroom_migrations VALUES ('postroomd', 1, '0001_initial.sql');

INSERT INTO rule_history VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d863-749f-a7ce-bc5a30e4fa09', 1, '7e2d295285dcd90d1a160ef24530607619d021ce3658514c190950ed498656a5', 'ed4502cdd5e38502691d224b03e0dc71706616f4ce8325a60aa125d6cad55a89', '{"ID":"01a2168b-d863-749f-a7ce-bc5a30e4fa09","AccountID":"01a2168b-d833-7094-806b-b4c4f2301bd2","Name":"Tea","Description":{"String":"","Valid":false},"Enabled":1,"DisabledReason":{"String":"","Valid":false},"Scope":"global","ScopeRef":{"String":"","Valid":false},"Priority":100,"Position":1,"Conditions":"{\"type\":\"subject_regex\",\"value\":\"^Tea\"}","Action":"archive","Parameters":"{}","SafeMode":"default","Also":"[]","Continues":0,"Schedule":"{}","Authentication":"","CreatedAt":"2026-11-26T06:29:53.377536Z","UpdatedAt":"2026-11-26T06:29:53.377536Z"}');
INSERT INTO rule_history VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d864-7094-a3b0-e837430db219', 1, 'c7d4446353b1b6dc5d3ff4104cbb4c7b1b328b144a06769aca72fccce2abad31', 'b46ae246f202c2f287018def7aa391b52b6326c06799067941572e12e5f6256c', '{"ID":"01a2168b-d864-7094-a3b0-e837430db219","AccountID":"01a2168b-d833-7094-806b-b4c4f2301bd2","Name":"Cake","Description":{"String":"","Valid":false},"Enabled":1,"DisabledReason":{"String":"","Valid":false},"Scope":"global","ScopeRef":{"String":"","Valid":false},"Priority":100,"Position":2,"Conditions":"{\"type\":\"subject_regex\",\"value\":\"^Cake\"}","Action":"delete","Parameters":"{}","SafeMode":"default","Also":"[]","Continues":0,"Schedule":"{}","Authentication":"","CreatedAt":"2026-11-26T06:29:53.377536Z","UpdatedAt":"2026-11-26T06:29:53.377536Z"}');

INSERT INTO rule_versions VALUES (1, '01a2168b-d833-7094-806b-b4c4f2301bd2', 'root', 'file', '/home/ada/rules.yaml', 'a1afe514c7e647f4f01eb03a7e846e269bc93db5361c2c1f4bf853e9b0cb7ff5', 2, 'rules:
  - {name: Tea, condition: {type: subject_regex, value: ^Tea}, action: archive}
  - {name: Cake, condition: {type: subject_regex, value: ^Cake}, action: delete}
', '2026-11-26 06:29:53.377536+00');

INSERT INTO rules_revision VALUES (1, 3);

INSERT INTO safety_events VALUES ('01a2168b-d82f-71a2-bdca-4ea2a2aae344', 'settings', '', '', 'root', '{"Policy":{"ConfidenceThreshold":0.7,"ApprovalAlways":["delete","forward","auto_reply","escalate"],"ModelAlone":["apply_label","remove_label","mark_read","mark_unread","star","unstar","archive","move","snooze","trash","restore","none"],"ModelShare":0.5,"ModelFree":20,"Recipients":[],"Caps":null,"Breaker":{"Actions":0,"Failures":50,"Undos":100,"Window":3600000000000,"OpenFor":3600000000000},"Quiet":"[] in Etc/GMT-6, except []"},"Approvers":[],"ApprovalExpiry":"168h0m0s","DryRun":false}', '2026-11-26 06:29:53.32661+00');

INSERT INTO safety_keys VALUES (1, '0ccb34d8845f7e4a773b2aec7a929bf5e62b630de398f7d3863df8dc9d5f602b');

INSERT INTO threads VALUES ('01a2168b-d888-7593-8442-029b4da01f3c', '01a2168b-d833-7094-806b-b4c4f2301bd2', '3b4c319838193f70', 'Cake', 'Chocolate.', '2026-11-26 06:29:53.145+00', '2026-11-26 06:29:53.415212+00', '2026-11-26 06:29:53.415212+00');
INSERT INTO threads VALUES ('01a2168b-d891-7725-8ba7-f65cfae97cdd', '01a2168b-d833-7094-806b-b4c4f2301bd2', 'a8578a9fe8c7f512', 'Tea again', 'No lemon.', '2026-11-26 06:29:53.146+00', '2026-11-26 06:29:53.413547+00', '2026-11-26 06:29:53.413547+00');
INSERT INTO threads VALUES ('01a2168b-d89b-75a2-ad09-4837a31368cd', '01a2168b-d833-7094-806b-b4c4f2301bd2', '0c9e76af75026e41', 'Tea at five', 'With lemon?', '2026-11-26 06:29:53.143+00', '2026-11-26 06:29:53.414999+00', '2026-11-26 06:29:53.414999+00');

INSERT INTO unindexed_messages VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d889-75fa-b00c-ab1554ff0718', 1795674593, '\x85ab1a0226ec50049645e908a489ed2d64dbea3e5bd1e655d543e15a1f6caa5ead95586bc6fdf26e9f4899742bbef082e1494189a4b4fe92f5b72e96db0b9097fde4f2ac49813dc6a41cb9eae76dccfd');
INSERT INTO unindexed_messages VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d893-7515-83f6-38f0390b390f', 1795674593, '\x85ab1a029645e908113cd415c720b72da489ed2d236ccd3e5bd1e655d543e15a1f6caa5ead95586bc7fed07685d5c9822bbef08288f05386a4b4fe92c6e573a349813dc6f6ddede02daa38e8a41cb9eae76dccfd');
INSERT INTO unindexed_messages VALUES ('01a2168b-d833-7094-806b-b4c4f2301bd2', '01a2168b-d89c-7438-b12d-78f087e5d1e0', 1795674593, '\x85ab1a029645e908113cd415a489ed2d5bd1e655d543e15a1f6caa5ead95586bdfe5616b85d5c9822bbef08288f053864a9eed86a4b4fe92b54bf5a0c6e573a32636f9aefdf02bba49813dc6f4d1c3daf6ddede0a41cb9eae76dccfd');

ALTER TABLE ONLY accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY accounts
    ADD CONSTRAINT accounts_provider_email_key UNIQUE (provider, email);

ALTER TABLE ONLY action_links
    ADD CONSTRAINT action_links_pkey PRIMARY KEY (cause_action_id, effect_action_id, relation);

ALTER TABLE ONLY actions
    ADD CONSTRAINT actions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY approvals
    ADD CONSTRAINT approvals_pkey PRIMARY KEY (id);

ALTER TABLE ONLY audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (number);

ALTER TABLE ONLY broken_messages
    ADD CONSTRAINT broken_messages_pkey PRIMARY KEY (account_id, provider_message_id);

ALTER TABLE ONLY decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY deterministic_rules
    ADD CONSTRAINT deterministic_rules_account_id_name_key UNIQUE (account_id, name);

ALTER TABLE ONLY deterministic_rules
    ADD CONSTRAINT deterministic_rules_pkey PRIMARY KEY (id);

ALTER TABLE ONLY discord_messages
    ADD CONSTRAINT discord_messages_pkey PRIMARY KEY (approval_id);

ALTER TABLE ONLY discord_whitelist
    ADD CONSTRAINT discord_whitelist_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY drafts
    ADD CONSTRAINT drafts_pkey PRIMARY KEY (account_id, draft_key);

ALTER TABLE ONLY instructions
    ADD CONSTRAINT instructions_pkey PRIMARY KEY (id);

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

ALTER TABLE ONLY labels
    ADD CONSTRAINT labels_pkey PRIMARY KEY (account_id, id);

ALTER TABLE ONLY llm_answers
    ADD CONSTRAINT llm_answers_pkey PRIMARY KEY (key);

ALTER TABLE ONLY llm_calls
    ADD CONSTRAINT llm_calls_pkey PRIMARY KEY (id);

ALTER TABLE ONLY llm_outages
    ADD CONSTRAINT llm_outages_pkey PRIMARY KEY (model, account_id);

ALTER TABLE ONLY llm_spend
    ADD CONSTRAINT llm_spend_pkey PRIMARY KEY (day, account_id);

ALTER TABLE ONLY llm_templates
    ADD CONSTRAINT llm_templates_pkey PRIMARY KEY (account_id, key);

ALTER TABLE ONLY message_labels
    ADD CONSTRAINT message_labels_pkey PRIMARY KEY (account_id, label_id, at, message_id);

ALTER TABLE ONLY message_locks
    ADD CONSTRAINT message_locks_pkey PRIMARY KEY (account_id, message_id);

ALTER TABLE ONLY message_terms
    ADD CONSTRAINT message_terms_pkey PRIMARY KEY (account_id, slot, bucket, part);

ALTER TABLE ONLY messages
    ADD CONSTRAINT messages_account_id_provider_message_id_key UNIQUE (account_id, provider_message_id);

ALTER TABLE ONLY messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);

ALTER TABLE ONLY model_counts
    ADD CONSTRAINT model_counts_pkey PRIMARY KEY (account_id);

ALTER TABLE ONLY outbound_messages
    ADD CONSTRAINT outbound_messages_pkey PRIMARY KEY (action_id);

ALTER TABLE ONLY outbound_recipients
    ADD CONSTRAINT outbound_recipients_pkey PRIMARY KEY (account_id, email, action_id);

ALTER TABLE ONLY postroom_migrations
    ADD CONSTRAINT postroom_migrations_pkey PRIMARY KEY (package, version);

ALTER TABLE ONLY postroomd_probes
    ADD CONSTRAINT postroomd_probes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY quota_accounts
    ADD CONSTRAINT quota_accounts_pkey PRIMARY KEY (account_id);

ALTER TABLE ONLY quota_leases
    ADD CONSTRAINT quota_leases_pkey PRIMARY KEY (id);

ALTER TABLE ONLY reconcile_suspects
    ADD CONSTRAINT reconcile_suspects_pkey PRIMARY KEY (account_id, provider_message_id);

ALTER TABLE ONLY reconciled_messages
    ADD CONSTRAINT reconciled_messages_pkey PRIMARY KEY (account_id, provider_message_id);

ALTER TABLE ONLY reconciliations
    ADD CONSTRAINT reconciliations_pkey PRIMARY KEY (account_id);

ALTER TABLE ONLY rule_history
    ADD CONSTRAINT rule_history_pkey PRIMARY KEY (account_id, rule_id, version);

ALTER TABLE ONLY rule_versions
    ADD CONSTRAINT rule_versions_pkey PRIMARY KEY (version);

ALTER TABLE ONLY rules_chat_messages
    ADD CONSTRAINT rules_chat_messages_pkey PRIMARY KEY (session_id, number);

ALTER TABLE ONLY rules_chat_sessions
    ADD CONSTRAINT rules_chat_sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY rules_revision
    ADD CONSTRAINT rules_revision_pkey PRIMARY KEY (id);

ALTER TABLE ONLY safety_breakers
    ADD CONSTRAINT safety_breakers_pkey PRIMARY KEY (account_id, source);

ALTER TABLE ONLY safety_events
    ADD CONSTRAINT safety_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY safety_keys
    ADD CONSTRAINT safety_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY safety_switch
    ADD CONSTRAINT safety_switch_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sent_before
    ADD CONSTRAINT sent_before_pkey PRIMARY KEY (mailbox, what, target, action_id);

ALTER TABLE ONLY threads
    ADD CONSTRAINT threads_account_id_provider_thread_id_key UNIQUE (account_id, provider_thread_id);

ALTER TABLE ONLY threads
    ADD CONSTRAINT threads_pkey PRIMARY KEY (id);

ALTER TABLE ONLY unindexed_messages
    ADD CONSTRAINT unindexed_messages_pkey PRIMARY KEY (account_id, message_id);

ALTER TABLE ONLY wanted_labels
    ADD CONSTRAINT wanted_labels_pkey PRIMARY KEY (account_id, name_key);

CREATE INDEX action_links_created ON action_links USING btree (created_at);

CREATE INDEX action_links_effect ON action_links USING btree (effect_action_id);

CREATE UNIQUE INDEX action_links_undo ON action_links USING btree (effect_action_id) WHERE ((relation = 'undo_of'::text) AND (void_at IS NULL));

CREATE INDEX actions_decision ON actions USING btree (decision_id);

CREATE INDEX actions_failed ON actions USING btree (account_id, updated_at) WHERE (state = 'failed'::text);

CREATE INDEX actions_message ON actions USING btree (message_id, id);

CREATE INDEX approvals_action ON approvals USING btree (action_id);

CREATE UNIQUE INDEX approvals_waiting ON approvals USING btree (action_id) WHERE (outcome = 'waiting'::text);

CREATE INDEX decisions_account ON decisions USING btree (account_id, created_at);

CREATE INDEX decisions_alone ON decisions USING btree (account_id, source, action_type, created_at) WHERE (needs_approval = 0);

CREATE UNIQUE INDEX decisions_key ON decisions USING btree (account_id, message_id, decision_key);

CREATE INDEX drafts_about ON drafts USING btree (original_message_id);

CREATE INDEX instructions_scope ON instructions USING btree (scope, scope_ref);

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

CREATE INDEX labels_name ON labels USING btree (account_id, name_key);

CREATE INDEX llm_answers_expiry ON llm_answers USING btree (expires_at);

CREATE INDEX llm_calls_about ON llm_calls USING btree (about);

CREATE INDEX llm_calls_created ON llm_calls USING btree (created_at);

CREATE INDEX llm_templates_expiry ON llm_templates USING btree (expires_at);

CREATE INDEX messages_present ON messages USING btree (account_id) WHERE (deleted_at IS NULL);

CREATE INDEX messages_received ON messages USING btree (account_id, COALESCE(received_at, created_at), id) WHERE (deleted_at IS NULL);

CREATE INDEX messages_sender ON messages USING btree (account_id, substr(COALESCE(from_key, lower(from_email)), 1, 320), COALESCE(received_at, created_at));

CREATE INDEX messages_thread ON messages USING btree (thread_id);

CREATE INDEX outbound_about ON outbound_messages USING btree (original_message_id);

CREATE INDEX outbound_account ON outbound_messages USING btree (account_id);

CREATE INDEX quota_leases_account ON quota_leases USING btree (account_id, free_at);

CREATE INDEX rule_history_rule ON rule_history USING btree (rule_id, rule_version);

CREATE INDEX rule_versions_account ON rule_versions USING btree (account_id, version);

CREATE INDEX rules_chat_sessions_newest ON rules_chat_sessions USING btree (updated_at, id);

CREATE INDEX sent_before_recipient ON sent_before USING btree (mailbox, recipient, sent_at);

CREATE TRIGGER message_labels_delete AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION message_labels_without();

CREATE TRIGGER message_labels_insert AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION message_labels_with();

CREATE TRIGGER message_labels_update_1 AFTER UPDATE OF labels_json, received_at ON messages FOR EACH ROW WHEN ((((old.labels_json)::text <> (new.labels_json)::text) OR (old.received_at IS DISTINCT FROM new.received_at))) EXECUTE FUNCTION message_labels_without();

CREATE TRIGGER message_labels_update_2 AFTER UPDATE OF labels_json, received_at ON messages FOR EACH ROW WHEN ((((old.labels_json)::text <> (new.labels_json)::text) OR (old.received_at IS DISTINCT FROM new.received_at))) EXECUTE FUNCTION message_labels_with();

ALTER TABLE ONLY action_links
    ADD CONSTRAINT action_links_cause_action_id_fkey FOREIGN KEY (cause_action_id) REFERENCES actions(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY action_links
    ADD CONSTRAINT action_links_effect_action_id_fkey FOREIGN KEY (effect_action_id) REFERENCES actions(id);

ALTER TABLE ONLY actions
    ADD CONSTRAINT actions_decision_id_fkey FOREIGN KEY (decision_id) REFERENCES decisions(id);

ALTER TABLE ONLY approvals
    ADD CONSTRAINT approvals_action_id_fkey FOREIGN KEY (action_id) REFERENCES actions(id);

ALTER TABLE ONLY broken_messages
    ADD CONSTRAINT broken_messages_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY drafts
    ADD CONSTRAINT drafts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY job_attempts
    ADD CONSTRAINT job_attempts_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY job_logs
    ADD CONSTRAINT job_logs_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY job_steps
    ADD CONSTRAINT job_steps_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY labels
    ADD CONSTRAINT labels_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY message_terms
    ADD CONSTRAINT message_terms_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY messages
    ADD CONSTRAINT messages_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY messages
    ADD CONSTRAINT messages_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES threads(id) ON DELETE CASCADE;

ALTER TABLE ONLY outbound_messages
    ADD CONSTRAINT outbound_messages_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY outbound_recipients
    ADD CONSTRAINT outbound_recipients_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY quota_accounts
    ADD CONSTRAINT quota_accounts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY quota_leases
    ADD CONSTRAINT quota_leases_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY reconcile_suspects
    ADD CONSTRAINT reconcile_suspects_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY reconciled_messages
    ADD CONSTRAINT reconciled_messages_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY reconciliations
    ADD CONSTRAINT reconciliations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY rules_chat_messages
    ADD CONSTRAINT rules_chat_messages_session_id_fkey FOREIGN KEY (session_id) REFERENCES rules_chat_sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY threads
    ADD CONSTRAINT threads_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY unindexed_messages
    ADD CONSTRAINT unindexed_messages_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY wanted_labels
    ADD CONSTRAINT wanted_labels_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;
