-- The age of the rule that the row is for; 0 in a row from before.
ALTER TABLE rule_ages ADD COLUMN age_seconds BIGINT NOT NULL DEFAULT 0;
