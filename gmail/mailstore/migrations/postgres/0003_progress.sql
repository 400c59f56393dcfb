-- The progress of a backfill.
ALTER TABLE accounts ADD COLUMN backfill_pages BIGINT NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN backfill_messages BIGINT NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN backfill_estimate BIGINT NOT NULL DEFAULT 0;
