-- How often a breaker, and the report about an action, has been written; 0 for those from before they were in the log.
ALTER TABLE safety_breakers ADD COLUMN rev INTEGER NOT NULL DEFAULT 0;
ALTER TABLE actions ADD COLUMN report_rev INTEGER NOT NULL DEFAULT 0;
