-- The order in which the model reads them, low priority first; revision counts the changes of one.
ALTER TABLE directions ADD COLUMN priority INTEGER NOT NULL DEFAULT 100;
ALTER TABLE directions ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE llm_rules ADD COLUMN priority INTEGER NOT NULL DEFAULT 100;
ALTER TABLE llm_rules ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
