PRAGMA defer_foreign_keys = ON;
CREATE TABLE accounts (
  id TEXT NOT NULL PRIMARY KEY,
  provider TEXT NOT NULL,
  email TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'reauthorize', 'removing')),
  state_reason TEXT NOT NULL DEFAULT '',
  state_since TEXT,
  granted_scopes TEXT NOT NULL DEFAULT '',
  history_id INTEGER NOT NULL DEFAULT 0,
  last_sync_at TEXT,
  watch_expires_at TEXT,
  backfill_state TEXT NOT NULL DEFAULT 'none' CHECK (backfill_state IN ('none', 'running', 'done')),
  backfill_query TEXT NOT NULL DEFAULT '',
  backfill_page TEXT NOT NULL DEFAULT '',
  backfill_pages INTEGER NOT NULL DEFAULT 0,
  backfill_messages INTEGER NOT NULL DEFAULT 0,
  backfill_estimate INTEGER NOT NULL DEFAULT 0,
  backfill_error TEXT NOT NULL DEFAULT '',
  backfilled_all INTEGER NOT NULL DEFAULT 0 CHECK (backfilled_all IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (provider, email)
);
CREATE TABLE action_links (
  cause_action_id TEXT NOT NULL REFERENCES actions (id) DEFERRABLE INITIALLY DEFERRED,
  effect_action_id TEXT NOT NULL REFERENCES actions (id),
  relation TEXT NOT NULL,
  created_at TEXT NOT NULL,
  void_at TEXT,
  PRIMARY KEY (cause_action_id, effect_action_id, relation)
) WITHOUT ROWID;
CREATE TABLE actions (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  decision_id TEXT NOT NULL REFERENCES decisions (id),
  type TEXT NOT NULL,
  parameters_json TEXT NOT NULL,
  content_sha256 TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN
    ('queued', 'executing', 'completed', 'failed', 'canceled', 'rejected', 'pending_approval')),
  error TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  sequence BIGINT,
  undo_hint_json TEXT,
  report_json TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  executed_at TEXT,
  rev INTEGER NOT NULL
);
CREATE TABLE approvals (
  id TEXT NOT NULL PRIMARY KEY,
  action_id TEXT NOT NULL REFERENCES actions (id),
  reasons_json TEXT NOT NULL,
  digest TEXT NOT NULL,
  requested_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  decided_at TEXT,
  outcome TEXT NOT NULL CHECK (outcome IN ('waiting', 'approved', 'rejected', 'withdrawn')),
  approver TEXT NOT NULL,
  why TEXT NOT NULL,
  signature TEXT NOT NULL,
  used_by TEXT NOT NULL
);
CREATE TABLE audit_entries (
  number INTEGER NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  rev INTEGER NOT NULL,
  note TEXT NOT NULL,
  digest TEXT NOT NULL,
  hash TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE TABLE broken_messages (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  provider_message_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  subject TEXT NOT NULL,
  snippet TEXT NOT NULL,
  raw BLOB NOT NULL,
  received_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (account_id, provider_message_id)
);
CREATE TABLE decisions (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  provider_message_id TEXT NOT NULL,
  decision_key TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('deterministic', 'llm', 'none')),
  action_type TEXT NOT NULL,
  parameters_json TEXT NOT NULL,
  confidence REAL,
  needs_approval INTEGER NOT NULL,
  rationale TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  rule_name TEXT NOT NULL,
  rule_version TEXT NOT NULL,
  safe_mode TEXT NOT NULL,
  model TEXT NOT NULL,
  explanations_json TEXT NOT NULL,
  telemetry_json TEXT NOT NULL,
  sender TEXT NOT NULL,
  subject TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE TABLE deterministic_rules (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  enabled INTEGER NOT NULL,
  disabled_reason TEXT,
  scope TEXT NOT NULL,
  scope_ref TEXT,
  priority INTEGER NOT NULL,
  position INTEGER NOT NULL,
  conditions TEXT NOT NULL,
  action TEXT NOT NULL,
  parameters TEXT NOT NULL,
  further_actions TEXT NOT NULL,
  continues INTEGER NOT NULL,
  schedule TEXT NOT NULL,
  authentication TEXT NOT NULL,
  safe_mode TEXT NOT NULL,
  revision INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (account_id, name)
);
CREATE TABLE discord_messages (
  approval_id TEXT NOT NULL PRIMARY KEY,
  action_id TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  shown TEXT NOT NULL,
  gone INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  posted_at TEXT,
  reminded_at TEXT
) WITHOUT ROWID;
CREATE TABLE discord_whitelist (
  user_id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  added_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE drafts (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  draft_key TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('creating', 'open', 'sending', 'sent', 'deleted')),
  rfc_message_id TEXT NOT NULL,
  provider_draft_id TEXT NOT NULL DEFAULT '',
  provider_thread_id TEXT NOT NULL DEFAULT '',
  sent_message_id TEXT NOT NULL DEFAULT '',
  original_message_id TEXT NOT NULL DEFAULT '',
  payload_json TEXT NOT NULL DEFAULT '',
  history_id INTEGER NOT NULL DEFAULT 0,
  open_until TEXT,
  version INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (account_id, draft_key)
);
CREATE TABLE instructions (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  scope_ref TEXT NOT NULL,
  content TEXT NOT NULL,
  forbids TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  revision INTEGER NOT NULL
);
CREATE TABLE job_attempts (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  worker_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  error TEXT NOT NULL,
  stack TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  PRIMARY KEY (job_id, attempt)
) WITHOUT ROWID;
CREATE TABLE job_heads (
  limit_key TEXT NOT NULL,
  type TEXT NOT NULL,
  priority INTEGER NOT NULL,
  not_before TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (limit_key, type)
) WITHOUT ROWID;
CREATE TABLE job_keys (
  key TEXT NOT NULL PRIMARY KEY,
  job_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  expires_at TEXT
) WITHOUT ROWID;
CREATE TABLE job_limit_marks (
  id INTEGER NOT NULL PRIMARY KEY,
  due_at TEXT NOT NULL,
  limit_key TEXT NOT NULL UNIQUE
);
CREATE TABLE job_limits (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  paused INTEGER NOT NULL,
  max_running INTEGER,
  rate INTEGER,
  period_us INTEGER,
  burst INTEGER,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE job_logs (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  line INTEGER NOT NULL,
  at TEXT NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL,
  attrs_json TEXT,
  PRIMARY KEY (job_id, attempt, line)
) WITHOUT ROWID;
CREATE TABLE job_moves (
  job_id TEXT NOT NULL PRIMARY KEY
) WITHOUT ROWID;
CREATE TABLE job_rates (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  arrival TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE job_schedules (
  name TEXT NOT NULL PRIMARY KEY,
  cron TEXT NOT NULL,
  zone TEXT NOT NULL,
  catch_up TEXT NOT NULL,
  type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  options_json TEXT NOT NULL,
  paused INTEGER NOT NULL,
  next_at TEXT,
  last_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE job_steps (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  result_json TEXT,
  PRIMARY KEY (job_id, name)
) WITHOUT ROWID;
CREATE TABLE job_workers (
  id TEXT NOT NULL PRIMARY KEY,
  beat INTEGER NOT NULL,
  beat_at TEXT NOT NULL,
  types_json TEXT
) WITHOUT ROWID;
CREATE TABLE jobs (
  id TEXT NOT NULL PRIMARY KEY,
  type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  priority INTEGER NOT NULL,
  state TEXT NOT NULL,
  hold INTEGER NOT NULL,
  not_before TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  interruptions INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  worker_id TEXT,
  idempotency_key TEXT,
  key_scope TEXT,
  limit_key TEXT,
  user_id TEXT,
  tags_json TEXT,
  expires_at TEXT,
  trace TEXT,
  result_json TEXT,
  last_error TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT
);
CREATE TABLE labels (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('system', 'user')),
  description TEXT NOT NULL DEFAULT '',
  available INTEGER NOT NULL CHECK (available IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE TABLE llm_answers (
  key TEXT PRIMARY KEY,
  answer TEXT NOT NULL,
  expires_at TEXT NOT NULL
);
CREATE TABLE llm_calls (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  purpose TEXT NOT NULL,
  model TEXT NOT NULL,
  state TEXT NOT NULL,
  failure TEXT,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  latency_ms INTEGER NOT NULL,
  trace_id TEXT,
  request_id TEXT,
  created_at TEXT NOT NULL,
  about TEXT NOT NULL,
  prompt TEXT NOT NULL,
  answer TEXT
);
CREATE TABLE llm_outages (
  model TEXT NOT NULL,
  account_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  failure TEXT NOT NULL,
  began_at TEXT NOT NULL,
  last_at TEXT NOT NULL,
  calls INTEGER NOT NULL,
  until_at TEXT,
  PRIMARY KEY (model, account_id)
);
CREATE TABLE llm_spend (
  day TEXT NOT NULL,
  account_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  PRIMARY KEY (day, account_id)
);
CREATE TABLE llm_templates (
  account_id TEXT NOT NULL,
  key TEXT NOT NULL,
  message_id TEXT NOT NULL,
  decision TEXT NOT NULL,
  uses INTEGER NOT NULL,
  made_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  PRIMARY KEY (account_id, key)
);
CREATE TABLE message_labels (
  account_id TEXT NOT NULL,
  label_id TEXT NOT NULL,
  at TEXT NOT NULL,
  message_id TEXT NOT NULL,
  PRIMARY KEY (account_id, label_id, at, message_id)
) WITHOUT ROWID;
CREATE TABLE message_locks (
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  sequence BIGINT NOT NULL,
  action_id TEXT,
  job_id TEXT,
  PRIMARY KEY (account_id, message_id)
) WITHOUT ROWID;
CREATE TABLE message_terms (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  slot INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  part INTEGER NOT NULL,
  postings BLOB NOT NULL,
  PRIMARY KEY (account_id, slot, bucket, part)
) WITHOUT ROWID;
CREATE TABLE messages (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  provider_message_id TEXT NOT NULL,
  history_id INTEGER NOT NULL,
  labels_json TEXT NOT NULL,
  rfc_message_id TEXT NOT NULL,
  in_reply_to TEXT NOT NULL,
  references_json TEXT NOT NULL,
  from_name TEXT NOT NULL,
  from_email TEXT NOT NULL,
  from_key TEXT,
  recipients_json TEXT NOT NULL,
  subject TEXT NOT NULL,
  snippet TEXT NOT NULL,
  headers_json TEXT NOT NULL,
  body_plain TEXT NOT NULL,
  body_html TEXT NOT NULL,
  attachments_json TEXT NOT NULL,
  size INTEGER NOT NULL,
  received_at TEXT,
  sent_at TEXT,
  deleted_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (account_id, provider_message_id)
);
CREATE TABLE model_counts (
  account_id TEXT NOT NULL PRIMARY KEY,
  counted BIGINT NOT NULL
);
CREATE TABLE outbound_messages (
  action_id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  message_type TEXT NOT NULL CHECK (message_type IN ('forward', 'reply')),
  rfc_message_id TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  history_id INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  open_until TEXT,
  sent_message_id TEXT NOT NULL DEFAULT '',
  sent_thread_id TEXT NOT NULL DEFAULT '',
  original_message_id TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE TABLE outbound_recipients (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  action_id TEXT NOT NULL,
  message_type TEXT NOT NULL,
  sent_at TEXT NOT NULL,
  PRIMARY KEY (account_id, email, action_id)
);
CREATE TABLE postroom_migrations (
  package TEXT NOT NULL,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (package, version)
);
CREATE TABLE postroomd_probes (
  id INTEGER NOT NULL PRIMARY KEY,
  written INTEGER NOT NULL
);
CREATE TABLE reconcile_suspects (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  provider_message_id TEXT NOT NULL,
  PRIMARY KEY (account_id, provider_message_id)
);
CREATE TABLE reconciled_messages (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  provider_message_id TEXT NOT NULL,
  run INTEGER NOT NULL,
  labels TEXT NOT NULL,
  last_label TEXT NOT NULL,
  PRIMARY KEY (account_id, provider_message_id)
);
CREATE TABLE reconciliations (
  account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  cause TEXT NOT NULL CHECK (cause IN ('gap', 'check')),
  phase TEXT NOT NULL CHECK (phase IN ('list', 'compare', 'missing', 'verify', 'clean', 'done')),
  history_id INTEGER NOT NULL,
  since INTEGER NOT NULL,
  lists_json TEXT NOT NULL,
  page TEXT NOT NULL,
  listed INTEGER NOT NULL,
  added INTEGER NOT NULL,
  relabelled INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  restored INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  finished_at TEXT
);
CREATE TABLE rule_history (
  account_id TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  rule_version TEXT NOT NULL,
  digest TEXT NOT NULL,
  content TEXT,
  PRIMARY KEY (account_id, rule_id, version)
) WITHOUT ROWID;
CREATE TABLE rule_versions (
  version INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL,
  author TEXT NOT NULL,
  origin TEXT NOT NULL,
  detail TEXT NOT NULL,
  digest TEXT NOT NULL,
  rules INTEGER NOT NULL,
  source TEXT,
  created_at TEXT NOT NULL
);
CREATE TABLE rules_chat_messages (
  session_id TEXT NOT NULL REFERENCES rules_chat_sessions (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  model TEXT NOT NULL,
  proposal TEXT NOT NULL,
  base TEXT NOT NULL,
  result TEXT NOT NULL,
  accepted_by TEXT NOT NULL,
  accepted_at TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (session_id, number)
);
CREATE TABLE rules_chat_sessions (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  begun_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE TABLE rules_revision (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL
);
CREATE TABLE safety_breakers (
  account_id TEXT NOT NULL,
  source TEXT NOT NULL,
  opened_at TEXT NOT NULL,
  open_until TEXT NOT NULL,
  why TEXT NOT NULL,
  closed_at TEXT,
  PRIMARY KEY (account_id, source)
);
CREATE TABLE safety_events (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  account_id TEXT NOT NULL,
  source TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  why TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE TABLE safety_keys (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  secret TEXT NOT NULL
);
CREATE TABLE safety_switch (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  stopped INTEGER NOT NULL,
  undos INTEGER NOT NULL,
  changed_by TEXT NOT NULL,
  why TEXT NOT NULL,
  changed_at TEXT NOT NULL,
  accepted_at TEXT
);
CREATE TABLE sent_before (
  mailbox TEXT NOT NULL,
  what TEXT NOT NULL,
  target TEXT NOT NULL,
  action_id TEXT NOT NULL,
  recipient TEXT NOT NULL,
  message_type TEXT NOT NULL CHECK (message_type IN ('forward', 'reply')),
  certain INTEGER NOT NULL CHECK (certain IN (0, 1)),
  sent_at TEXT NOT NULL,
  PRIMARY KEY (mailbox, what, target, action_id)
);
CREATE TABLE threads (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  provider_thread_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  snippet TEXT NOT NULL,
  last_message_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (account_id, provider_thread_id)
);
CREATE TABLE unindexed_messages (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  received INTEGER NOT NULL,
  terms BLOB,
  PRIMARY KEY (account_id, message_id)
) WITHOUT ROWID;
CREATE TABLE wanted_labels (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name_key TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (account_id, name_key)
);
INSERT INTO "accounts" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','gmail','you@example.com','active','',NULL,'',1063,'2026-11-26T06:29:53.104497Z',NULL,'done','','',1,3,3,'',1,'2026-11-26T06:29:52.974064Z','2026-11-26T06:29:53.104497Z');
INSERT INTO "action_links" VALUES('01a2168b-d738-723c-b049-7c8d81f09690','01a2168b-d6e9-7011-99c9-19d880eb4778','undo_of','2026-11-26T06:29:53.079579Z',NULL);
INSERT INTO "actions" VALUES('01a2168b-d6e6-7cec-8c40-fd5e17066368','01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e6-754f-930f-bfc00050ce27','01a2168b-d6e6-7b1e-9410-deafaa7eeba8','archive','{}','','completed','','','01a2168b-d6e6-7e24-bd20-4d6a0ba0807b',1,'{"inverse_action":"apply_label","inverse_parameters":{"label":"INBOX"},"before":{"label_ids":["INBOX","UNREAD"]},"after":{"label_ids":["UNREAD"]},"change":{"remove":["INBOX"]}}',NULL,'2026-11-26T06:29:52.998213Z','2026-11-26T06:29:53.012603Z','2026-11-26T06:29:53.002735Z',3);
INSERT INTO "actions" VALUES('01a2168b-d6e9-7011-99c9-19d880eb4778','01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e8-7d7b-b875-1f949520e95c','01a2168b-d6e8-7efc-8b7e-974b1c4ab895','archive','{}','','completed','','','01a2168b-d6e9-70a8-a943-dbb1545f734a',1,'{"inverse_action":"apply_label","inverse_parameters":{"label":"INBOX"},"before":{"label_ids":["INBOX","UNREAD"]},"after":{"label_ids":["UNREAD"]},"change":{"remove":["INBOX"]}}',NULL,'2026-11-26T06:29:53.000817Z','2026-11-26T06:29:53.012157Z','2026-11-26T06:29:53.003314Z',3);
INSERT INTO "actions" VALUES('01a2168b-d6e9-7404-99f7-9cc756f46d23','01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e9-7244-8db7-d63b018e8131','01a2168b-d6e9-73c3-a412-7c52c686e64d','delete','{}','','pending_approval','','','',NULL,NULL,NULL,'2026-11-26T06:29:53.001097Z','2026-11-26T06:29:53.001097Z',NULL,1);
INSERT INTO "actions" VALUES('01a2168b-d738-723c-b049-7c8d81f09690','01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e8-7d7b-b875-1f949520e95c','01a2168b-d6e8-7efc-8b7e-974b1c4ab895','undo_archive','{}','','completed','','','01a2168b-d729-7576-8e3d-b6f10ac9540f',2,'{"inverse_action":"archive","before":{"label_ids":["UNREAD"]},"after":{"label_ids":["INBOX","UNREAD"]}}','{"restored":{"add":["INBOX"]},"skipped":{},"left_alone":[]}','2026-11-26T06:29:53.079579Z','2026-11-26T06:29:53.084388Z','2026-11-26T06:29:53.079579Z',2);
INSERT INTO "approvals" VALUES('01a2168b-d6e9-748a-9fa3-082a66b20aa5','01a2168b-d6e9-7404-99f7-9cc756f46d23','["action is classified as dangerous","action type is in approval_always list"]','869a2d12:2ea68aba064e02a0d91957f9491940f86e3b74a0e55c81c9bca1c25dbd358414','2026-11-26T06:29:53.001097Z','2026-12-03T06:29:53.001097Z',NULL,'waiting','','','','');
INSERT INTO "audit_entries" VALUES(1,'','event','01a2168b-d6cb-7a86-a5b6-7c16009fa04b',0,'settings','e8036378beef42a85fb0af9b6e9df06e8e0dbf76fc2de234402adca84ae267c8','4cba35fe2b824114e5e8bc326d64ac0c884fc7327afec8d0d7db4e10bf29d4f2','2026-11-26T06:29:52.971560Z');
INSERT INTO "audit_entries" VALUES(2,'01a2168b-d6ce-710b-bc52-147a9702ac77','decision','01a2168b-d6e6-7cec-8c40-fd5e17066368',1,'queued','ac335812f9de049f0af6b911e757446362ec2fe4b89fa49e34eb48162963d1f8','fc720192a542d904298ad731199130a517d5b4320942e5d6d3a5deb843068176','2026-11-26T06:29:52.998213Z');
INSERT INTO "audit_entries" VALUES(3,'01a2168b-d6ce-710b-bc52-147a9702ac77','decision','01a2168b-d6e9-7011-99c9-19d880eb4778',1,'queued','3094b0bb338320653649b8df521359e3fd14eef1d027f1bc221d89de2601ebe0','514b9666c6fab46a3b786a2b2595401b96fd6d6f58684d4dd4191a502e3323f7','2026-11-26T06:29:53.000817Z');
INSERT INTO "audit_entries" VALUES(4,'01a2168b-d6ce-710b-bc52-147a9702ac77','decision','01a2168b-d6e9-7404-99f7-9cc756f46d23',1,'pending_approval','7796460fd217d79d873a7cdf6b90da0dc0bc6bdc6f6d7f3e632bac9148c43d87','46cdc73acdc5d725944a5d9ca73de393f66437b47120eed369f5518ab5b2c9ff','2026-11-26T06:29:53.001097Z');
INSERT INTO "audit_entries" VALUES(5,'01a2168b-d6ce-710b-bc52-147a9702ac77','approval','01a2168b-d6e9-748a-9fa3-082a66b20aa5',0,'waiting','fe226f69366f430b362841004615d2e45e9024632168fe3125a573fccf39f451','7c66e76d8d6ec0d4389bf852b9f0c41ccb760a0bbe8a66bdba8b4bc824667146','2026-11-26T06:29:53.001097Z');
INSERT INTO "audit_entries" VALUES(6,'01a2168b-d6ce-710b-bc52-147a9702ac77','action','01a2168b-d6e9-7011-99c9-19d880eb4778',3,'completed','a21ecb6a22e0d7dd0d150354f962471e19c4323da44292724582833345b6f531','435b158b97ab21d50d2d86232ed06397b4c3dd9418ca8b285e7a0f9fbe938da0','2026-11-26T06:29:53.012157Z');
INSERT INTO "audit_entries" VALUES(7,'01a2168b-d6ce-710b-bc52-147a9702ac77','action','01a2168b-d6e6-7cec-8c40-fd5e17066368',3,'completed','7d7da98007b5646fa004bc0acd6cd46f586f4a90dd0c7082bacade5edb6c31f7','e52d78af5c34eeb670ce14de3919d024bce4fe89d299ab38d762f6ea8edaa66a','2026-11-26T06:29:53.012603Z');
INSERT INTO "audit_entries" VALUES(8,'01a2168b-d6ce-710b-bc52-147a9702ac77','undo','01a2168b-d729-7576-8e3d-b6f10ac9540f',0,'01a2168b-d6e9-7011-99c9-19d880eb4778 by root','','6ab4a78835114947917cfde9122d0c7be30da5be04c2d3852e918b3409bed473','2026-11-26T06:29:53.065095Z');
INSERT INTO "audit_entries" VALUES(9,'01a2168b-d6ce-710b-bc52-147a9702ac77','action','01a2168b-d738-723c-b049-7c8d81f09690',1,'executing','69c2f918c687b1ea8e0e07cffda4e88d6e42b73b9d88318e2520c04ccfded0a8','6ed3b574203b89d912db6e51d789c8e4fdadf5402c9ce0281901533d47ba8141','2026-11-26T06:29:53.079579Z');
INSERT INTO "audit_entries" VALUES(10,'01a2168b-d6ce-710b-bc52-147a9702ac77','action','01a2168b-d738-723c-b049-7c8d81f09690',2,'completed','f3e076136ae975872b6b6abe75aa4d0015163ac3a10c6fa14551cddf098e8116','53556310b2a03375d8f32ae47515a1b079ab181275ed9f6894aada3ef45cf60b','2026-11-26T06:29:53.084388Z');
INSERT INTO "decisions" VALUES('01a2168b-d6e6-7b1e-9410-deafaa7eeba8','01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e6-754f-930f-bfc00050ce27','a8578a9fe8c7f512','','deterministic','archive','{}',1.0,0,'Matched deterministic rule ''Tea'' (priority 100)','01a2168b-d6df-756c-b844-156009de447e','Tea','338defcf5a076b8e9f65325a38eed89c17f6be9a437f3cd8cb88dd165e40ae4a','default','','{"salient_features":["subject_regex \"^Tea\""],"matched_directions":null,"considered_alternatives":null}','{"requires_approval":false,"safety_overrides":[],"override_details":[]}','ann@example.com','Tea again','2026-11-26T06:29:52.998213Z');
INSERT INTO "decisions" VALUES('01a2168b-d6e8-7efc-8b7e-974b1c4ab895','01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e8-7d7b-b875-1f949520e95c','0c9e76af75026e41','','deterministic','archive','{}',1.0,0,'Matched deterministic rule ''Tea'' (priority 100)','01a2168b-d6df-756c-b844-156009de447e','Tea','338defcf5a076b8e9f65325a38eed89c17f6be9a437f3cd8cb88dd165e40ae4a','default','','{"salient_features":["subject_regex \"^Tea\""],"matched_directions":null,"considered_alternatives":null}','{"requires_approval":false,"safety_overrides":[],"override_details":[]}','ann@example.com','Tea at five','2026-11-26T06:29:53.000817Z');
INSERT INTO "decisions" VALUES('01a2168b-d6e9-73c3-a412-7c52c686e64d','01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e9-7244-8db7-d63b018e8131','3b4c319838193f70','','deterministic','delete','{}',1.0,1,'Matched deterministic rule ''Cake'' (priority 100)','01a2168b-d6df-76c4-a92e-ecee6b22f9fc','Cake','615cefacd28691c0534c825579791bb0a13f9e979fc6d85bd1e1b06f62901e79','default','','{"salient_features":["subject_regex \"^Cake\""],"matched_directions":null,"considered_alternatives":null}','{"requires_approval":true,"safety_overrides":["dangerous_action","approval_always"],"override_details":["action is classified as dangerous","action type is in approval_always list"]}','baker@example.com','Cake','2026-11-26T06:29:53.001097Z');
INSERT INTO "deterministic_rules" VALUES('01a2168b-d6df-756c-b844-156009de447e','01a2168b-d6ce-710b-bc52-147a9702ac77','Tea',NULL,1,NULL,'global',NULL,100,1,'{"type":"subject_regex","value":"^Tea"}','archive','{}','[]',0,'{}','','default',2,'2026-11-26T06:29:52.991100Z','2026-11-26T06:29:52.991100Z');
INSERT INTO "deterministic_rules" VALUES('01a2168b-d6df-76c4-a92e-ecee6b22f9fc','01a2168b-d6ce-710b-bc52-147a9702ac77','Cake',NULL,1,NULL,'global',NULL,100,2,'{"type":"subject_regex","value":"^Cake"}','delete','{}','[]',0,'{}','','default',2,'2026-11-26T06:29:52.991100Z','2026-11-26T06:29:52.991100Z');
INSERT INTO "instructions" VALUES('01a2168b-d71d-7901-b067-0ea056b8a64f','','sender','baker@example.com','Keep what the baker writes.','["trash"]',1,100,'2026-11-26T06:29:53.053569Z','2026-11-26T06:29:53.053569Z',1);
INSERT INTO "job_keys" VALUES('ingest.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77:0c9e76af75026e41','01a2168b-d6e4-7305-8c9c-fc4d20d21076','forever','40a306b81ee9e87be3b093b0d6dfd4dd4e18e635492b4cf70ff9dfbce293e6b1',NULL);
INSERT INTO "job_keys" VALUES('ingest.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77:3b4c319838193f70','01a2168b-d6e4-7300-bff2-1f02448bfae0','forever','9c1707f905c3d108d757eab7c422653cf738c29c90fdc251ff52e551c065ece0',NULL);
INSERT INTO "job_keys" VALUES('ingest.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77:a8578a9fe8c7f512','01a2168b-d6e4-72f5-b726-7a81a4c43e5a','forever','c3089c067ba530c81cc6f31d9e4a24cbbab11c01dda63c2d2c59ef68a2b57768',NULL);
INSERT INTO "job_steps" VALUES('01a2168b-d6e6-7e24-bd20-4d6a0ba0807b','before',1,'2026-11-26T06:29:53.003827Z','2026-11-26T06:29:53.007546Z','{"label_ids":["INBOX","UNREAD"]}');
INSERT INTO "job_steps" VALUES('01a2168b-d6e9-70a8-a943-dbb1545f734a','before',1,'2026-11-26T06:29:53.003820Z','2026-11-26T06:29:53.007631Z','{"label_ids":["INBOX","UNREAD"]}');
INSERT INTO "job_steps" VALUES('01a2168b-d729-7576-8e3d-b6f10ac9540f','image 01a2168b-d738-723c-b049-7c8d81f09690',1,'2026-11-26T06:29:53.081879Z','2026-11-26T06:29:53.082615Z','{"label_ids":["UNREAD"]}');
INSERT INTO "jobs" VALUES('01a2168b-d6ce-7c04-8116-fd26c8029f8f','labels.sync.gmail','{"account_id":"01a2168b-d6ce-710b-bc52-147a9702ac77"}',1,'completed',0,'2026-11-26T06:29:52.974808Z',1,0,0,0,5,'vm-2027-e76074b1','labels.sync.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77','unfinished','gmail:01a2168b-d6ce-710b-bc52-147a9702ac77',NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-26T06:29:52.974808Z','2026-11-26T06:29:52.979275Z','2026-11-26T06:29:52.976463Z','2026-11-26T06:29:52.979275Z');
INSERT INTO "jobs" VALUES('01a2168b-d6e1-7278-bde6-716fbed6149c','backfill.gmail','{"account_id":"01a2168b-d6ce-710b-bc52-147a9702ac77"}',-10,'completed',0,'2026-11-26T06:29:52.993187Z',1,0,0,0,100,'vm-2027-c6e2b6ab','backfill.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77:first','unfinished','gmail:01a2168b-d6ce-710b-bc52-147a9702ac77',NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-26T06:29:52.993187Z','2026-11-26T06:29:52.995912Z','2026-11-26T06:29:52.993912Z','2026-11-26T06:29:52.995912Z');
INSERT INTO "jobs" VALUES('01a2168b-d6e4-72f5-b726-7a81a4c43e5a','ingest.gmail','{"account_id":"01a2168b-d6ce-710b-bc52-147a9702ac77","message_id":"a8578a9fe8c7f512"}',1,'completed',0,'2026-11-26T06:29:52.995912Z',1,0,0,0,100,'vm-2027-c6e2b6ab','ingest.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77:a8578a9fe8c7f512','forever','gmail:01a2168b-d6ce-710b-bc52-147a9702ac77',NULL,NULL,NULL,'00-fe865a640cbfb0392f771bd0addc8e03-13307a8bae218fed-00',NULL,NULL,'2026-11-26T06:29:52.995912Z','2026-11-26T06:29:52.998213Z','2026-11-26T06:29:52.996876Z','2026-11-26T06:29:52.998213Z');
INSERT INTO "jobs" VALUES('01a2168b-d6e4-7300-bff2-1f02448bfae0','ingest.gmail','{"account_id":"01a2168b-d6ce-710b-bc52-147a9702ac77","message_id":"3b4c319838193f70"}',1,'completed',0,'2026-11-26T06:29:52.995912Z',1,0,0,0,100,'vm-2027-c6e2b6ab','ingest.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77:3b4c319838193f70','forever','gmail:01a2168b-d6ce-710b-bc52-147a9702ac77',NULL,NULL,NULL,'00-fe865a640cbfb0392f771bd0addc8e03-13307a8bae218fed-00',NULL,NULL,'2026-11-26T06:29:52.995912Z','2026-11-26T06:29:53.001097Z','2026-11-26T06:29:52.996876Z','2026-11-26T06:29:53.001097Z');
INSERT INTO "jobs" VALUES('01a2168b-d6e4-7305-8c9c-fc4d20d21076','ingest.gmail','{"account_id":"01a2168b-d6ce-710b-bc52-147a9702ac77","message_id":"0c9e76af75026e41"}',1,'completed',0,'2026-11-26T06:29:52.995912Z',1,0,0,0,100,'vm-2027-c6e2b6ab','ingest.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77:0c9e76af75026e41','forever','gmail:01a2168b-d6ce-710b-bc52-147a9702ac77',NULL,NULL,NULL,'00-fe865a640cbfb0392f771bd0addc8e03-13307a8bae218fed-00',NULL,NULL,'2026-11-26T06:29:52.995912Z','2026-11-26T06:29:53.000817Z','2026-11-26T06:29:52.996876Z','2026-11-26T06:29:53.000817Z');
INSERT INTO "jobs" VALUES('01a2168b-d6e6-7e24-bd20-4d6a0ba0807b','action.gmail','{"account_id":"01a2168b-d6ce-710b-bc52-147a9702ac77","action_id":"01a2168b-d6e6-7cec-8c40-fd5e17066368"}',0,'completed',0,'2026-11-26T06:29:52.998213Z',1,0,0,0,100,'vm-2027-c6e2b6ab','action.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77:01a2168b-d6e6-7cec-8c40-fd5e17066368','unfinished','gmail:01a2168b-d6ce-710b-bc52-147a9702ac77',NULL,NULL,NULL,'00-704939be4c6f8196cec1ab3de0d9b456-e8b11f8c36c0096b-00',NULL,NULL,'2026-11-26T06:29:52.998213Z','2026-11-26T06:29:53.012603Z','2026-11-26T06:29:52.999607Z','2026-11-26T06:29:53.012603Z');
INSERT INTO "jobs" VALUES('01a2168b-d6e9-70a8-a943-dbb1545f734a','action.gmail','{"account_id":"01a2168b-d6ce-710b-bc52-147a9702ac77","action_id":"01a2168b-d6e9-7011-99c9-19d880eb4778"}',0,'completed',0,'2026-11-26T06:29:53.000817Z',1,0,0,0,100,'vm-2027-c6e2b6ab','action.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77:01a2168b-d6e9-7011-99c9-19d880eb4778','unfinished','gmail:01a2168b-d6ce-710b-bc52-147a9702ac77',NULL,NULL,NULL,'00-c4773e5bd8a3a1e3300b958ff6218384-d50765841ea87552-00',NULL,NULL,'2026-11-26T06:29:53.000817Z','2026-11-26T06:29:53.012157Z','2026-11-26T06:29:53.002174Z','2026-11-26T06:29:53.012157Z');
INSERT INTO "jobs" VALUES('01a2168b-d703-7107-a3c9-5b88df32c15f','history.sync.gmail','{"account_id":"01a2168b-d6ce-710b-bc52-147a9702ac77"}',1,'completed',0,'2026-11-26T06:29:53.027085Z',1,0,0,0,5,'vm-2027-cfca2a3f','history.sync.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77','unfinished','gmail:01a2168b-d6ce-710b-bc52-147a9702ac77',NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-26T06:29:53.027085Z','2026-11-26T06:29:53.030105Z','2026-11-26T06:29:53.027947Z','2026-11-26T06:29:53.030105Z');
INSERT INTO "jobs" VALUES('01a2168b-d729-7576-8e3d-b6f10ac9540f','undo.action','{"account_id":"01a2168b-d6ce-710b-bc52-147a9702ac77","original_action_id":"01a2168b-d6e9-7011-99c9-19d880eb4778"}',0,'completed',0,'2026-11-26T06:29:53.065095Z',1,0,0,0,100,'vm-2027-b4155b5c','undo.action:01a2168b-d6ce-710b-bc52-147a9702ac77:01a2168b-d6e9-7011-99c9-19d880eb4778','unfinished','gmail:01a2168b-d6ce-710b-bc52-147a9702ac77',NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-26T06:29:53.065095Z','2026-11-26T06:29:53.084388Z','2026-11-26T06:29:53.077825Z','2026-11-26T06:29:53.084388Z');
INSERT INTO "jobs" VALUES('01a2168b-d734-7829-98b6-76e95669befb','labels.sync.gmail','{"account_id":"01a2168b-d6ce-710b-bc52-147a9702ac77"}',1,'completed',0,'2026-11-26T06:29:53.076554Z',1,0,0,0,5,'vm-2027-b4155b5c','labels.sync.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77','unfinished','gmail:01a2168b-d6ce-710b-bc52-147a9702ac77',NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-26T06:29:53.076554Z','2026-11-26T06:29:53.081756Z','2026-11-26T06:29:53.077825Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "jobs" VALUES('01a2168b-d74c-7cd8-9613-9a207b97c306','history.sync.gmail','{"account_id":"01a2168b-d6ce-710b-bc52-147a9702ac77"}',1,'completed',0,'2026-11-26T06:29:53.100861Z',1,0,0,0,5,'vm-2027-e318c1d8','history.sync.gmail:01a2168b-d6ce-710b-bc52-147a9702ac77','unfinished','gmail:01a2168b-d6ce-710b-bc52-147a9702ac77',NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-26T06:29:53.100861Z','2026-11-26T06:29:53.104497Z','2026-11-26T06:29:53.102048Z','2026-11-26T06:29:53.104497Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','CATEGORY_FORUMS','CATEGORY_FORUMS','category_forums','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','CATEGORY_PERSONAL','CATEGORY_PERSONAL','category_personal','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','CATEGORY_PROMOTIONS','CATEGORY_PROMOTIONS','category_promotions','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','CATEGORY_SOCIAL','CATEGORY_SOCIAL','category_social','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','CATEGORY_UPDATES','CATEGORY_UPDATES','category_updates','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','CHAT','CHAT','chat','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','DRAFT','DRAFT','draft','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','IMPORTANT','IMPORTANT','important','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','INBOX','INBOX','inbox','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','SENT','SENT','sent','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','SPAM','SPAM','spam','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','STARRED','STARRED','starred','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','TRASH','TRASH','trash','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','UNREAD','UNREAD','unread','system','',0,'2026-11-26T06:29:52.979275Z','2026-11-26T06:29:53.081756Z');
INSERT INTO "message_labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','INBOX','2026-11-26T06:29:52.946000Z','01a2168b-d6e8-7d7b-b875-1f949520e95c');
INSERT INTO "message_labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','INBOX','2026-11-26T06:29:52.948000Z','01a2168b-d6e9-7244-8db7-d63b018e8131');
INSERT INTO "message_labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','UNREAD','2026-11-26T06:29:52.946000Z','01a2168b-d6e8-7d7b-b875-1f949520e95c');
INSERT INTO "message_labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','UNREAD','2026-11-26T06:29:52.948000Z','01a2168b-d6e6-754f-930f-bfc00050ce27');
INSERT INTO "message_labels" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','UNREAD','2026-11-26T06:29:52.948000Z','01a2168b-d6e9-7244-8db7-d63b018e8131');
INSERT INTO "message_locks" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e6-754f-930f-bfc00050ce27',1,NULL,NULL);
INSERT INTO "message_locks" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e8-7d7b-b875-1f949520e95c',2,NULL,NULL);
INSERT INTO "messages" VALUES('01a2168b-d6e6-754f-930f-bfc00050ce27','01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e6-73ff-b152-ad6bab14b110','a8578a9fe8c7f512',1049,'["UNREAD"]','3@example.com','','null','Ann','ann@example.com',NULL,'{"to":[{"email":"you@example.com"}]}','Tea again','No lemon.','[{"name":"Delivered-To","value":"you@example.com"},{"name":"Return-Path","value":"\u003cann@example.com\u003e"},{"name":"From","value":"Ann \u003cann@example.com\u003e"},{"name":"To","value":"you@example.com"},{"name":"Subject","value":"Tea again"},{"name":"Message-ID","value":"\u003c3@example.com\u003e"},{"name":"Date","value":"Mon, 02 Nov 2026 12:00:00 +0000"}]','No lemon.
','','null',214,'2026-11-26T06:29:52.948000Z','2026-11-02T12:00:00.000000Z',NULL,'2026-11-26T06:29:52.998213Z','2026-11-26T06:29:53.030105Z');
INSERT INTO "messages" VALUES('01a2168b-d6e8-7d7b-b875-1f949520e95c','01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e8-7d4a-ac24-ab927c94f845','0c9e76af75026e41',1063,'["INBOX","UNREAD"]','1@example.com','','null','Ann','ann@example.com',NULL,'{"to":[{"email":"you@example.com"}]}','Tea at five','With lemon?','[{"name":"Delivered-To","value":"you@example.com"},{"name":"Return-Path","value":"\u003cann@example.com\u003e"},{"name":"From","value":"Ann \u003cann@example.com\u003e"},{"name":"To","value":"you@example.com"},{"name":"Subject","value":"Tea at five"},{"name":"Message-ID","value":"\u003c1@example.com\u003e"},{"name":"Date","value":"Mon, 02 Nov 2026 10:00:00 +0000"}]','With lemon?
','','null',218,'2026-11-26T06:29:52.946000Z','2026-11-02T10:00:00.000000Z',NULL,'2026-11-26T06:29:53.000817Z','2026-11-26T06:29:53.104497Z');
INSERT INTO "messages" VALUES('01a2168b-d6e9-7244-8db7-d63b018e8131','01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e9-721c-a83a-16568c82475f','3b4c319838193f70',1028,'["INBOX","UNREAD"]','2@example.com','','null','Bäcker','baker@example.com',NULL,'{"to":[{"email":"you@example.com"}]}','Cake','Chocolate.','[{"name":"Delivered-To","value":"you@example.com"},{"name":"Return-Path","value":"\u003cbaker@example.com\u003e"},{"name":"From","value":"Bäcker \u003cbaker@example.com\u003e"},{"name":"To","value":"you@example.com"},{"name":"Subject","value":"Cake"},{"name":"Message-ID","value":"\u003c2@example.com\u003e"},{"name":"Date","value":"Mon, 02 Nov 2026 11:00:00 +0000"}]','Chocolate.
','','null',234,'2026-11-26T06:29:52.948000Z','2026-11-02T11:00:00.000000Z',NULL,'2026-11-26T06:29:53.001097Z','2026-11-26T06:29:53.001097Z');
INSERT INTO "postroom_migrations" VALUES('queue',1,'0001_initial.sql');
INSERT INTO "postroom_migrations" VALUES('gmail',1,'0001_initial.sql');
INSERT INTO "postroom_migrations" VALUES('rules',1,'0001_initial.sql');
INSERT INTO "postroom_migrations" VALUES('safety',1,'0001_initial.sql');
INSERT INTO "postroom_migrations" VALUES('audit',1,'0001_initial.sql');
INSERT INTO "postroom_migrations" VALUES('llm',1,'0001_initial.sql');
INSERT INTO "postroom_migrations" VALUES('llm/decide',1,'0001_initial.sql');
INSERT INTO "postroom_migrations" VALUES('llm/guidance',1,'0001_initial.sql');
INSERT INTO "postroom_migrations" VALUES('ruleschat',1,'0001_initial.sql');
INSERT INTO "postroom_migrations" VALUES('discord',1,'0001_initial.sql');
INSERT INTO "postroom_migrations" VALUES('postroomd',1,'0001_initial.sql');
INSERT INTO "rule_history" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6df-756c-b844-156009de447e',1,'338defcf5a076b8e9f65325a38eed89c17f6be9a437f3cd8cb88dd165e40ae4a','ed4502cdd5e38502691d224b03e0dc71706616f4ce8325a60aa125d6cad55a89','{"ID":"01a2168b-d6df-756c-b844-156009de447e","AccountID":"01a2168b-d6ce-710b-bc52-147a9702ac77","Name":"Tea","Description":{"String":"","Valid":false},"Enabled":1,"DisabledReason":{"String":"","Valid":false},"Scope":"global","ScopeRef":{"String":"","Valid":false},"Priority":100,"Position":1,"Conditions":"{\"type\":\"subject_regex\",\"value\":\"^Tea\"}","Action":"archive","Parameters":"{}","SafeMode":"default","Also":"[]","Continues":0,"Schedule":"{}","Authentication":"","CreatedAt":"2026-11-26T06:29:52.9911Z","UpdatedAt":"2026-11-26T06:29:52.9911Z"}');
INSERT INTO "rule_history" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6df-76c4-a92e-ecee6b22f9fc',1,'615cefacd28691c0534c825579791bb0a13f9e979fc6d85bd1e1b06f62901e79','b46ae246f202c2f287018def7aa391b52b6326c06799067941572e12e5f6256c','{"ID":"01a2168b-d6df-76c4-a92e-ecee6b22f9fc","AccountID":"01a2168b-d6ce-710b-bc52-147a9702ac77","Name":"Cake","Description":{"String":"","Valid":false},"Enabled":1,"DisabledReason":{"String":"","Valid":false},"Scope":"global","ScopeRef":{"String":"","Valid":false},"Priority":100,"Position":2,"Conditions":"{\"type\":\"subject_regex\",\"value\":\"^Cake\"}","Action":"delete","Parameters":"{}","SafeMode":"default","Also":"[]","Continues":0,"Schedule":"{}","Authentication":"","CreatedAt":"2026-11-26T06:29:52.9911Z","UpdatedAt":"2026-11-26T06:29:52.9911Z"}');
INSERT INTO "rule_versions" VALUES(1,'01a2168b-d6ce-710b-bc52-147a9702ac77','root','file','/home/ada/rules.yaml','a1afe514c7e647f4f01eb03a7e846e269bc93db5361c2c1f4bf853e9b0cb7ff5',2,'rules:
  - {name: Tea, condition: {type: subject_regex, value: ^Tea}, action: archive}
  - {name: Cake, condition: {type: subject_regex, value: ^Cake}, action: delete}
','2026-11-26T06:29:52.991100Z');
INSERT INTO "rules_revision" VALUES(1,3);
INSERT INTO "safety_events" VALUES('01a2168b-d6cb-7a86-a5b6-7c16009fa04b','settings','','','root','{"Policy":{"ConfidenceThreshold":0.7,"ApprovalAlways":["delete","forward","auto_reply","escalate"],"ModelAlone":["apply_label","remove_label","mark_read","mark_unread","star","unstar","archive","move","snooze","trash","restore","none"],"ModelShare":0.5,"ModelFree":20,"Recipients":[],"Caps":null,"Breaker":{"Actions":0,"Failures":50,"Undos":100,"Window":3600000000000,"OpenFor":3600000000000},"Quiet":"[] in Etc/GMT-6, except []"},"Approvers":[],"ApprovalExpiry":"168h0m0s","DryRun":false}','2026-11-26T06:29:52.971560Z');
INSERT INTO "safety_keys" VALUES(1,'d0863c97ec2eed8a3f139c2ae7c565966f45122d4ccdff0ed6ef09b7bd6a309a');
INSERT INTO "threads" VALUES('01a2168b-d6e6-73ff-b152-ad6bab14b110','01a2168b-d6ce-710b-bc52-147a9702ac77','a8578a9fe8c7f512','Tea again','No lemon.','2026-11-26T06:29:52.948000Z','2026-11-26T06:29:52.998213Z','2026-11-26T06:29:52.998213Z');
INSERT INTO "threads" VALUES('01a2168b-d6e8-7d4a-ac24-ab927c94f845','01a2168b-d6ce-710b-bc52-147a9702ac77','0c9e76af75026e41','Tea at five','With lemon?','2026-11-26T06:29:52.946000Z','2026-11-26T06:29:53.000817Z','2026-11-26T06:29:53.000817Z');
INSERT INTO "threads" VALUES('01a2168b-d6e9-721c-a83a-16568c82475f','01a2168b-d6ce-710b-bc52-147a9702ac77','3b4c319838193f70','Cake','Chocolate.','2026-11-26T06:29:52.948000Z','2026-11-26T06:29:53.001097Z','2026-11-26T06:29:53.001097Z');
INSERT INTO "unindexed_messages" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e6-754f-930f-bfc00050ce27',1795674592,X'85AB1A029645E908113CD415C720B72DA489ED2D236CCD3E5BD1E655D543E15A1F6CAA5EAD95586BC7FED07685D5C9822BBEF08288F05386A4B4FE92C6E573A349813DC6F6DDEDE02DAA38E8A41CB9EAE76DCCFD');
INSERT INTO "unindexed_messages" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e8-7d7b-b875-1f949520e95c',1795674592,X'85AB1A029645E908113CD415A489ED2D5BD1E655D543E15A1F6CAA5EAD95586BDFE5616B85D5C9822BBEF08288F053864A9EED86A4B4FE92B54BF5A0C6E573A32636F9AEFDF02BBA49813DC6F4D1C3DAF6DDEDE0A41CB9EAE76DCCFD');
INSERT INTO "unindexed_messages" VALUES('01a2168b-d6ce-710b-bc52-147a9702ac77','01a2168b-d6e9-7244-8db7-d63b018e8131',1795674592,X'85AB1A0226EC50049645E908A489ED2D64DBEA3E5BD1E655D543E15A1F6CAA5EAD95586BC6FDF26E9F4899742BBEF082E1494189A4B4FE92F5B72E96DB0B9097FDE4F2AC49813DC6A41CB9EAE76DCCFD');
CREATE INDEX jobs_ready ON jobs (type, priority DESC, not_before, id) WHERE state = 'queued' AND hold = 0;
CREATE INDEX jobs_scheduled ON jobs (not_before, type) WHERE hold = 1 AND state = 'queued';
CREATE INDEX jobs_waiting ON jobs (limit_key, type, priority DESC, not_before, id) WHERE hold = 2 AND state = 'queued';
CREATE INDEX jobs_running ON jobs (worker_id, type) WHERE state = 'running';
CREATE INDEX jobs_admitted ON jobs (limit_key) WHERE limit_key IS NOT NULL AND hold = 0 AND state = 'queued';
CREATE INDEX jobs_occupying ON jobs (limit_key) WHERE limit_key IS NOT NULL AND state = 'running';
CREATE INDEX jobs_expiring ON jobs (expires_at) WHERE expires_at IS NOT NULL AND state = 'queued';
CREATE INDEX jobs_finished ON jobs (state, type, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_user ON jobs (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX jobs_limit_key ON jobs ((limit_key || ''), id) WHERE limit_key IS NOT NULL;
CREATE INDEX jobs_tagged ON jobs (id) WHERE tags_json IS NOT NULL;
CREATE INDEX jobs_key ON jobs (idempotency_key, id) WHERE idempotency_key IS NOT NULL;
CREATE INDEX jobs_moving ON jobs (id) WHERE hold = 3;
CREATE INDEX job_keys_expiring ON job_keys (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX job_limit_marks_due ON job_limit_marks (due_at);
CREATE INDEX job_heads_first ON job_heads (type, priority DESC, not_before, id);
CREATE INDEX job_schedules_next ON job_schedules (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX messages_thread ON messages (thread_id);
CREATE INDEX messages_present ON messages (account_id) WHERE deleted_at IS NULL;
CREATE INDEX messages_received ON messages (account_id, COALESCE(received_at, created_at), id) WHERE deleted_at IS NULL;
CREATE INDEX messages_sender ON messages (account_id, SUBSTR(COALESCE(from_key, LOWER(from_email)), 1, 320), COALESCE(received_at, created_at));
CREATE INDEX labels_name ON labels (account_id, name_key);
CREATE INDEX outbound_account ON outbound_messages (account_id);
CREATE INDEX outbound_about ON outbound_messages (original_message_id);
CREATE INDEX drafts_about ON drafts (original_message_id);
CREATE INDEX sent_before_recipient ON sent_before (mailbox, recipient, sent_at);
CREATE TRIGGER message_labels_insert AFTER INSERT ON messages BEGIN
  INSERT OR IGNORE INTO message_labels (account_id, label_id, at, message_id)
  SELECT NEW.account_id, value, COALESCE(NEW.received_at, NEW.created_at), NEW.id FROM json_each(NEW.labels_json) WHERE type = 'text'; END;
CREATE TRIGGER message_labels_delete AFTER DELETE ON messages BEGIN
  DELETE FROM message_labels WHERE account_id = OLD.account_id AND at = COALESCE(OLD.received_at, OLD.created_at) AND message_id = OLD.id
  AND label_id IN (SELECT value FROM json_each(OLD.labels_json)); END;
CREATE TRIGGER message_labels_update AFTER UPDATE OF labels_json, received_at ON messages
WHEN OLD.labels_json <> NEW.labels_json OR OLD.received_at IS NOT NEW.received_at BEGIN
  DELETE FROM message_labels WHERE account_id = OLD.account_id AND at = COALESCE(OLD.received_at, OLD.created_at) AND message_id = OLD.id
  AND label_id IN (SELECT value FROM json_each(OLD.labels_json)); INSERT OR IGNORE INTO message_labels (account_id, label_id, at, message_id)
  SELECT NEW.account_id, value, COALESCE(NEW.received_at, NEW.created_at), NEW.id FROM json_each(NEW.labels_json) WHERE type = 'text'; END;
CREATE INDEX rule_versions_account ON rule_versions (account_id, version);
CREATE INDEX rule_history_rule ON rule_history (rule_id, rule_version);
CREATE UNIQUE INDEX decisions_key ON decisions (account_id, message_id, decision_key);
CREATE INDEX decisions_account ON decisions (account_id, created_at);
CREATE INDEX decisions_alone ON decisions (account_id, source, action_type, created_at) WHERE needs_approval = 0;
CREATE INDEX actions_decision ON actions (decision_id);
CREATE INDEX actions_message ON actions (message_id, id);
CREATE INDEX actions_failed ON actions (account_id, updated_at) WHERE state = 'failed';
CREATE UNIQUE INDEX action_links_undo ON action_links (effect_action_id) WHERE relation = 'undo_of' AND void_at IS NULL;
CREATE INDEX action_links_effect ON action_links (effect_action_id);
CREATE INDEX action_links_created ON action_links (created_at);
CREATE INDEX approvals_action ON approvals (action_id);
CREATE UNIQUE INDEX approvals_waiting ON approvals (action_id) WHERE outcome = 'waiting';
CREATE INDEX llm_calls_created ON llm_calls (created_at);
CREATE INDEX llm_calls_about ON llm_calls (about);
CREATE INDEX llm_answers_expiry ON llm_answers (expires_at);
CREATE INDEX llm_templates_expiry ON llm_templates (expires_at);
CREATE INDEX instructions_scope ON instructions (scope, scope_ref);
CREATE INDEX rules_chat_sessions_newest ON rules_chat_sessions (updated_at, id);
