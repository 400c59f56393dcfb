-- The hash of what the action sent when the request was made, or when it ended; empty before this column, and if it named none.
ALTER TABLE approvals ADD COLUMN content_sha256 TEXT NOT NULL DEFAULT '';

-- The request that was made in its place when a person edited what the action sends; empty if none was.
ALTER TABLE approvals ADD COLUMN replaced_by TEXT NOT NULL DEFAULT '';
