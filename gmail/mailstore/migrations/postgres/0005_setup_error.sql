-- Why the account could not be set up at the last attempt, so that nothing is decided about its mail; empty if it could.
ALTER TABLE accounts ADD COLUMN setup_error TEXT NOT NULL DEFAULT '';
