-- What a person, or another program, has changed last of the labels of a message: one row a label. Rules leave it as it is.
CREATE TABLE label_changes_by_hand (
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  label_id TEXT NOT NULL,
  added integer NOT NULL CHECK (added IN (0, 1)),
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (message_id, label_id)
);
