-- What was permitted, signed; NULL for actions from before.
ALTER TABLE actions ADD COLUMN seal TEXT;

-- The key of the signatures, for programs that configure none.
CREATE TABLE safety_keys (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  secret TEXT NOT NULL
);
