-- A flow that is being canceled, and whose nodes all complete before that reaches them, has completed.
CREATE OR REPLACE FUNCTION job_flows_ended() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.ended = NEW.nodes THEN
    UPDATE job_flows
    SET state = CASE
        WHEN failed > 0 THEN 'failed'
        WHEN canceled > 0 THEN 'canceled'
        WHEN state = 'canceling' AND EXISTS (
          SELECT 1 FROM job_nodes WHERE flow_id = NEW.id AND (job_nodes.state = 'canceled' OR job_nodes.canceled > 0)) THEN 'canceled'
        ELSE 'completed'
      END,
      finished_at = updated_at
    WHERE id = NEW.id;
  ELSIF NEW.finished_at IS NOT NULL THEN
    UPDATE job_flows SET state = 'running', finished_at = NULL WHERE id = NEW.id;
  END IF;
  RETURN NULL;
END;
$$;

UPDATE job_flows
SET state = 'completed'
WHERE state = 'canceled'
  AND failed = 0
  AND canceled = 0
  AND NOT EXISTS (
    SELECT 1
    FROM job_nodes
    WHERE flow_id = job_flows.id
      AND (job_nodes.state = 'canceled' OR job_nodes.canceled > 0 OR moving = 1));
