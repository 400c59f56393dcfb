-- Which version of its rule a decision is of; empty for decisions of no rule, and for those from before.
ALTER TABLE decisions ADD COLUMN rule_version TEXT NOT NULL DEFAULT '';
