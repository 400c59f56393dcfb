-- The last entry about a row, without which nothing goes on from there. The ids of rows have the collation "C".
DROP INDEX audit_entries_started;
CREATE INDEX audit_entries_actions ON audit_entries (subject_id COLLATE "C", rev) WHERE kind = 'action';
CREATE INDEX audit_entries_approvals ON audit_entries (subject_id COLLATE "C", rev) WHERE kind = 'approval';

-- Where the log was when a key began to sign.
CREATE INDEX audit_entries_keys ON audit_entries (subject_id) WHERE kind = 'key';
