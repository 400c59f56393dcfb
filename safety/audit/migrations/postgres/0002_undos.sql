-- Who has requested an undo is read by the id of its job.
CREATE INDEX audit_entries_undos ON audit_entries (subject_id) WHERE kind = 'undo';
