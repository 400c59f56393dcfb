-- Of a call that was answered by a stored answer: the call that had made the answer, and why it was given again. NULL for other calls,
-- and for those before these columns.
ALTER TABLE llm_calls ADD COLUMN reused_from TEXT;
ALTER TABLE llm_calls ADD COLUMN reused_why TEXT;

-- Calls are listed from the newest to the oldest: ids ascend with time.
CREATE INDEX llm_calls_model ON llm_calls (model, id);
CREATE INDEX llm_calls_account ON llm_calls (account_id, id);
