-- Rules may have several actions, let the rules after them be tried, apply at certain times only, and want a verified sender.
ALTER TABLE deterministic_rules ADD COLUMN further_actions JSON NOT NULL DEFAULT '[]';
ALTER TABLE deterministic_rules ADD COLUMN continues INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deterministic_rules ADD COLUMN schedule JSON NOT NULL DEFAULT '{}';
ALTER TABLE deterministic_rules ADD COLUMN authentication TEXT NOT NULL DEFAULT '';
