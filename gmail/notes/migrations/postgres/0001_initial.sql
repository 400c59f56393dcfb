-- The files that were written into the vault, by their paths below it. sha256 is the hash of what was written: a file
-- with another one was edited by a person. earlier is the note of an earlier message that a note links to.
CREATE TABLE note_files (
  path TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  attached INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  earlier TEXT NOT NULL,
  written_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX note_files_message ON note_files (account_id, message_id);

CREATE INDEX note_files_thread ON note_files (account_id, thread_id, written_at);

-- The texts of notes. The id is that of the action that made it, path the file that has the text; empty if that was
-- removed by a person and another file has its place.
CREATE TABLE notes (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  path TEXT NOT NULL,
  text TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX notes_account ON notes (account_id, id);

CREATE INDEX notes_message ON notes (account_id, message_id, id);

CREATE INDEX notes_path ON notes (path);
