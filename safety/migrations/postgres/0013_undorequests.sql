-- Who has requested an undo, and whether its job has done it: looked up when the undo starts and ends.
CREATE INDEX audit_entries_undos ON audit_entries (subject_id, rev) WHERE kind = 'undo';
