-- job_enqueue takes the version of a payload, and refuses BLOBs in the place of texts and days that no month has.
DROP VIEW job_enqueue;

CREATE VIEW job_enqueue AS
SELECT id, type, payload_json AS payload, priority, not_before, idempotency_key AS key, key_scope, max_attempts, expires_at, limit_key,
  user_id, tags_json AS tags, payload_version
FROM jobs;

CREATE TRIGGER job_enqueue_insert INSTEAD OF INSERT ON job_enqueue
BEGIN
  SELECT CASE
    WHEN 'blob' IN (typeof(NEW.type), typeof(NEW.key), typeof(NEW.limit_key), typeof(NEW.user_id), typeof(NEW.tags)) THEN
      RAISE(ABORT, 'job_enqueue: type, key, limit_key, user_id and tags must be texts, not BLOBs; hex() makes a text of one')
    WHEN COALESCE(NEW.type, '') IN ('', '*') OR LENGTH(CAST(NEW.type AS BLOB)) > 200 THEN
      RAISE(ABORT, 'job_enqueue: type must have 1 to 200 bytes, and must not be *')
    WHEN NOT json_valid(COALESCE(NEW.payload, 'null')) OR LENGTH(CAST(NEW.payload AS BLOB)) > 1048576 THEN
      RAISE(ABORT, 'job_enqueue: payload must be JSON of at most 1 MiB')
    WHEN json(COALESCE(NEW.payload, 'null')) LIKE '{"$codec"%' THEN
      RAISE(ABORT, 'job_enqueue: payload must not begin with the member "$codec", which is the queue''s own')
    WHEN typeof(COALESCE(NEW.priority, 0)) <> 'integer' OR NEW.priority NOT BETWEEN -2147483648 AND 2147483647 THEN
      RAISE(ABORT, 'job_enqueue: priority must be a whole number of 32 bits')
    WHEN typeof(COALESCE(NEW.payload_version, 0)) <> 'integer' OR NEW.payload_version NOT BETWEEN 0 AND 2147483647 THEN
      RAISE(ABORT, 'job_enqueue: payload_version must be a whole number, and not negative')
    WHEN typeof(COALESCE(NEW.max_attempts, 5)) <> 'integer' OR NEW.max_attempts NOT BETWEEN 1 AND 1000 THEN
      RAISE(ABORT, 'job_enqueue: max_attempts must be within 1 and 1000')
    WHEN instr(CAST(COALESCE(NEW.type, '') || COALESCE(NEW.key, '') || COALESCE(NEW.limit_key, '') || COALESCE(NEW.user_id, '')
        || COALESCE(NEW.tags, '') AS BLOB), x'00') THEN
      RAISE(ABORT, 'job_enqueue: type, key, limit_key, user_id and tags must have no NUL')
    WHEN NEW.key = '' OR LENGTH(CAST(NEW.key AS BLOB)) > 1000 THEN
      RAISE(ABORT, 'job_enqueue: key must have 1 to 1000 bytes, or be NULL')
    WHEN NEW.key_scope NOT IN ('forever', 'unfinished') THEN
      RAISE(ABORT, 'job_enqueue: key_scope must be forever or unfinished')
    WHEN LENGTH(CAST(NEW.limit_key AS BLOB)) > 200 OR NEW.limit_key LIKE 'coalesce:%' THEN
      RAISE(ABORT, 'job_enqueue: limit_key must have at most 200 bytes, and must not begin with coalesce:')
    WHEN LENGTH(CAST(NEW.user_id AS BLOB)) > 200 THEN
      RAISE(ABORT, 'job_enqueue: user_id must have at most 200 bytes')
    WHEN NEW.tags IS NOT NULL AND (NOT json_valid(NEW.tags) OR json_type(NEW.tags) <> 'array' OR json_array_length(NEW.tags) > 20
        OR EXISTS (SELECT 1 FROM json_each(NEW.tags) WHERE type <> 'text' OR LENGTH(CAST(value AS BLOB)) NOT BETWEEN 1 AND 100
          OR instr(CAST(value AS BLOB), x'00'))) THEN
      RAISE(ABORT, 'job_enqueue: tags must be a JSON array of at most 20 texts, of 1 to 100 bytes each')
    WHEN (NEW.not_before IS NOT NULL AND (julianday(NEW.not_before) IS NULL OR NEW.not_before NOT GLOB '[0-9][0-9][0-9][0-9]-*'
          OR julianday(NEW.not_before) NOT BETWEEN julianday('0001-01-01') AND julianday('9999-12-31T23:59:59Z')))
        OR (NEW.expires_at IS NOT NULL AND (julianday(NEW.expires_at) IS NULL OR NEW.expires_at NOT GLOB '[0-9][0-9][0-9][0-9]-*'
          OR julianday(NEW.expires_at) NOT BETWEEN julianday('0001-01-01') AND julianday('9999-12-31T23:59:59Z'))) THEN
      RAISE(ABORT, 'job_enqueue: not_before and expires_at must be times, as 2026-01-31T07:00:00Z')
    WHEN date(substr(NEW.not_before, 1, 10), '+0 days') <> substr(NEW.not_before, 1, 10)
        OR date(substr(NEW.expires_at, 1, 10), '+0 days') <> substr(NEW.expires_at, 1, 10) THEN
      RAISE(ABORT, 'job_enqueue: not_before and expires_at must be times of days that their months have')
    WHEN julianday(NEW.expires_at) < julianday(NEW.not_before) THEN
      RAISE(ABORT, 'job_enqueue: expires_at is before not_before: the job could never run')
    WHEN NEW.id IS NOT NULL AND (typeof(NEW.id) <> 'text' OR NEW.id NOT GLOB '????????-????-????-????-????????????'
        OR NEW.id GLOB '*[^0-9a-f-]*' OR instr(NEW.id, char(0)) OR EXISTS (SELECT 1 FROM jobs WHERE id = NEW.id)) THEN
      RAISE(ABORT, 'job_enqueue: id must be a UUID in lower case that no job has, or be NULL')
  END;
  DELETE FROM job_keys
  WHERE key = NEW.key
    AND expires_at <= strftime('%Y-%m-%dT%H:%M:%f000Z', 'now');
  SELECT RAISE(ABORT, 'job_enqueue: the key belongs to a job of another type')
  WHERE EXISTS (SELECT 1 FROM job_keys WHERE key = NEW.key AND type <> NEW.type);
  INSERT INTO jobs (id, type, payload_json, priority, state, hold, not_before, max_attempts, idempotency_key, key_scope, limit_key,
    user_id, tags_json, payload_version, expires_at, created_at, updated_at)
  SELECT
    COALESCE(NEW.id, printf('%08x-%04x-7', ms >> 16, ms & 65535) || substr(lower(hex(randomblob(2))), 2) || '-'
      || substr('89ab', 1 + (random() & 3), 1) || substr(lower(hex(randomblob(2))), 2) || '-' || lower(hex(randomblob(6)))),
    NEW.type, json(COALESCE(NEW.payload, 'null')), COALESCE(NEW.priority, 0), 'queued',
    CASE
      WHEN due > at THEN 1
      WHEN NULLIF(NEW.limit_key, '') IS NOT NULL AND EXISTS (SELECT 1 FROM job_limits WHERE kind IN ('key', 'prefix')) THEN 2
      ELSE 0
    END,
    due, COALESCE(NEW.max_attempts, 5), NEW.key, CASE WHEN NEW.key IS NOT NULL THEN COALESCE(NEW.key_scope, 'forever') END,
    NULLIF(NEW.limit_key, ''), NULLIF(NEW.user_id, ''), CASE WHEN json_array_length(NEW.tags) > 0 THEN json(NEW.tags) END,
    NULLIF(NEW.payload_version, 0),
    strftime('%Y-%m-%dT%H:%M:%f000Z', NEW.expires_at), at, at
  FROM (
    SELECT at, ms, MAX(at, COALESCE(strftime('%Y-%m-%dT%H:%M:%f000Z', NEW.not_before), at)) AS due
    FROM (
      SELECT strftime('%Y-%m-%dT%H:%M:%f000Z', 'now') AS at,
        CAST(strftime('%s', 'now') AS INTEGER) * 1000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) AS ms))
  WHERE NEW.key IS NULL
    OR NOT EXISTS (SELECT 1 FROM job_keys WHERE key = NEW.key);
  INSERT INTO job_keys (key, job_id, scope, fingerprint, type)
  SELECT NEW.key, id, COALESCE(NEW.key_scope, 'forever'), '', NEW.type
  FROM jobs
  WHERE rowid = last_insert_rowid()
    AND NEW.key IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM job_keys WHERE key = NEW.key);
  INSERT INTO job_limit_marks (due_at, limit_key)
  SELECT '1970-01-01T00:00:00.000000Z', NEW.limit_key
  WHERE NULLIF(NEW.limit_key, '') IS NOT NULL
    AND EXISTS (SELECT 1 FROM job_limits WHERE kind IN ('key', 'prefix'))
  ON CONFLICT (limit_key) DO UPDATE
  SET due_at = MIN(due_at, excluded.due_at);
END;
