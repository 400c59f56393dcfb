-- The provider's id of the message that was decided about; empty for decisions from before.
ALTER TABLE decisions ADD COLUMN provider_message_id TEXT NOT NULL DEFAULT '';

-- Which undos of an action the log knows; their entries name it.
CREATE INDEX audit_entries_links ON audit_entries (note) WHERE kind = 'link';
