-- Of a spent budget: how many tokens the smallest call needs that it has refused. 0 for other outages.
ALTER TABLE llm_outages ADD COLUMN least_tokens BIGINT NOT NULL DEFAULT 0;
