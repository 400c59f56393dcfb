-- Why the backfill that is running has stopped for good; empty while it goes on.
ALTER TABLE accounts ADD COLUMN backfill_error TEXT NOT NULL DEFAULT '';
