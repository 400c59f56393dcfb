-- The hash of what the action sends; NULL until that is composed, and for actions that send nothing.
ALTER TABLE actions ADD COLUMN content_sha256 TEXT;
