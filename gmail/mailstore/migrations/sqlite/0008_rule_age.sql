-- The age of the rule that the row is for; 0 in a row from before.
ALTER TABLE rule_ages ADD COLUMN age_seconds INTEGER NOT NULL DEFAULT 0;
