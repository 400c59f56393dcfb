-- The signature over the person and the whole list; empty for lists from before, which nobody may decide by until they are set anew.
ALTER TABLE discord_whitelist ADD COLUMN signature TEXT NOT NULL DEFAULT '';
