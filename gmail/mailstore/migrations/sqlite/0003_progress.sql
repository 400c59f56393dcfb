-- The progress of a backfill.
ALTER TABLE accounts ADD COLUMN backfill_pages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN backfill_messages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN backfill_estimate INTEGER NOT NULL DEFAULT 0;
