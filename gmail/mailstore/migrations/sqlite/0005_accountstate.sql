-- Whether the jobs of an account run, why they do not, and since when; NULL for an account that always was active.
ALTER TABLE accounts ADD COLUMN state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'reauthorize', 'removing'));

ALTER TABLE accounts ADD COLUMN state_reason TEXT NOT NULL DEFAULT '';

ALTER TABLE accounts ADD COLUMN state_since TEXT;
