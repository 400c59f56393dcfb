-- When Gmail stops to publish the changes of an account.
ALTER TABLE accounts ADD COLUMN watch_expires_at TEXT;
