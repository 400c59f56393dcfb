-- The key of a draft that another part of the program has made; empty for one of the need's own.
ALTER TABLE replies ADD COLUMN draft_key TEXT NOT NULL DEFAULT '';
