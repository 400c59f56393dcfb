-- job_enqueue takes the version of a payload. Who has changed the function's rights, or its search_path, does it again.
DROP FUNCTION job_enqueue(
  TEXT, JSON, INTEGER, TIMESTAMPTZ, TEXT, TEXT, INTEGER, TIMESTAMPTZ, TEXT, TEXT, TEXT[]
);

CREATE FUNCTION job_enqueue(
  type TEXT,
  payload JSON DEFAULT 'null',
  priority INTEGER DEFAULT 0,
  not_before TIMESTAMPTZ DEFAULT NULL,
  key TEXT DEFAULT NULL,
  key_scope TEXT DEFAULT 'forever',
  max_attempts INTEGER DEFAULT 5,
  expires_at TIMESTAMPTZ DEFAULT NULL,
  limit_key TEXT DEFAULT NULL,
  user_id TEXT DEFAULT NULL,
  tags TEXT[] DEFAULT NULL,
  payload_version INTEGER DEFAULT 0
) RETURNS TEXT
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
#variable_conflict use_column
DECLARE
  now_at TIMESTAMPTZ := clock_timestamp();
  due TIMESTAMPTZ := GREATEST(COALESCE(job_enqueue.not_before, now_at), now_at);
  held SMALLINT := CASE WHEN due > now_at THEN 1 WHEN NULLIF(job_enqueue.limit_key, '') IS NOT NULL THEN 2 ELSE 0 END;
  new_id TEXT := encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send(floor(extract(epoch FROM now_at) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid::text;
  holder TEXT;
  holder_type TEXT;
  fault TEXT;
BEGIN
  fault := CASE
    WHEN COALESCE(job_enqueue.type, '') IN ('', '*') OR octet_length(job_enqueue.type) > 200 THEN
      'type must have 1 to 200 bytes, and must not be *'
    WHEN job_enqueue.payload IS NULL OR octet_length(job_enqueue.payload::text) > 1048576 THEN
      'payload must be JSON of at most 1 MiB'
    WHEN job_enqueue.payload::text ~ '^\s*\{\s*"\$codec"' THEN
      'payload must not begin with the member "$codec", which is the queue''s own'
    WHEN job_enqueue.priority IS NULL THEN
      'priority must be a number'
    WHEN job_enqueue.payload_version < 0 THEN
      'payload_version must not be negative'
    WHEN job_enqueue.max_attempts IS NULL OR job_enqueue.max_attempts NOT BETWEEN 1 AND 1000 THEN
      'max_attempts must be within 1 and 1000'
    WHEN job_enqueue.key = '' OR octet_length(job_enqueue.key) > 1000 THEN
      'key must have 1 to 1000 bytes, or be NULL'
    WHEN job_enqueue.key IS NOT NULL AND COALESCE(job_enqueue.key_scope, '') NOT IN ('forever', 'unfinished') THEN
      'key_scope must be forever or unfinished'
    WHEN octet_length(job_enqueue.limit_key) > 200 OR job_enqueue.limit_key LIKE 'coalesce:%' THEN
      'limit_key must have at most 200 bytes, and must not begin with coalesce:'
    WHEN octet_length(job_enqueue.user_id) > 200 THEN
      'user_id must have at most 200 bytes'
    WHEN cardinality(job_enqueue.tags) > 20 OR array_ndims(job_enqueue.tags) > 1
      OR EXISTS (SELECT 1 FROM unnest(job_enqueue.tags) AS t (tag) WHERE tag IS NULL OR octet_length(tag) NOT BETWEEN 1 AND 100) THEN
      'tags must be at most 20, of 1 to 100 bytes each'
    WHEN COALESCE(job_enqueue.not_before, now_at) NOT BETWEEN '0001-01-01 00:00:00+00' AND '9999-12-31 23:59:59+00'
      OR COALESCE(job_enqueue.expires_at, now_at) NOT BETWEEN '0001-01-01 00:00:00+00' AND '9999-12-31 23:59:59+00' THEN
      'not_before and expires_at must be within the years 1 and 9999'
    WHEN job_enqueue.expires_at < job_enqueue.not_before THEN
      'expires_at is before not_before: the job could never run'
  END;
  IF fault IS NOT NULL THEN
    RAISE EXCEPTION 'job_enqueue: %', fault USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF job_enqueue.key IS NOT NULL THEN
    FOR try IN 1..10 LOOP
      DELETE FROM job_keys WHERE job_keys.key = job_enqueue.key AND job_keys.expires_at <= now_at;
      INSERT INTO job_keys (key, job_id, scope, fingerprint, type)
      VALUES (job_enqueue.key, new_id, job_enqueue.key_scope,
        encode(sha256(convert_to(job_enqueue.type, 'UTF8') || '\x00'::bytea || convert_to(job_enqueue.payload::text, 'UTF8')), 'hex'),
        job_enqueue.type)
      ON CONFLICT (key) DO NOTHING;
      SELECT k.job_id, COALESCE(k.type, job_enqueue.type) INTO holder, holder_type
      FROM job_keys AS k
      WHERE k.key = job_enqueue.key;
      EXIT WHEN holder IS NOT NULL;
    END LOOP;
    IF holder IS NULL THEN
      RAISE EXCEPTION 'job_enqueue: the key % is taken and freed by others all the time', job_enqueue.key USING ERRCODE = 'serialization_failure';
    END IF;
    IF holder_type <> job_enqueue.type THEN
      RAISE EXCEPTION 'job_enqueue: the key % belongs to job %, which is of type %', job_enqueue.key, holder, holder_type
        USING ERRCODE = 'unique_violation';
    END IF;
    IF holder IS DISTINCT FROM new_id THEN
      RETURN holder;
    END IF;
  END IF;
  INSERT INTO jobs (id, type, payload_json, priority, state, hold, not_before, max_attempts, idempotency_key, key_scope, limit_key,
    user_id, tags_json, payload_version, expires_at, created_at, updated_at)
  VALUES (new_id, job_enqueue.type, job_enqueue.payload, job_enqueue.priority, 'queued', held, due, job_enqueue.max_attempts,
    job_enqueue.key, CASE WHEN job_enqueue.key IS NOT NULL THEN job_enqueue.key_scope END, NULLIF(job_enqueue.limit_key, ''),
    NULLIF(job_enqueue.user_id, ''), CASE WHEN cardinality(job_enqueue.tags) > 0 THEN to_json(job_enqueue.tags) END,
    NULLIF(job_enqueue.payload_version, 0)::text,
    job_enqueue.expires_at, now_at, now_at);
  IF held = 2 THEN
    INSERT INTO job_heads (limit_key, type, priority, not_before, id, open)
    VALUES (job_enqueue.limit_key, job_enqueue.type, job_enqueue.priority, due, new_id, TRUE);
  END IF;
  PERFORM pg_notify('postroom_jobs', '');
  RETURN new_id;
END
$$;
