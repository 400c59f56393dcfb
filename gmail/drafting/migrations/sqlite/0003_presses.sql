-- How often a button was pressed: what was begun by an earlier press is not taken for what the last one has begun.
ALTER TABLE reply_buttons ADD COLUMN presses INTEGER NOT NULL DEFAULT 0;
