-- How the owner of a mailbox writes. version counts the changes of the text: what was learned for an earlier one is not
-- stored. note says why nothing was learned at the last attempt.
CREATE TABLE voice_profiles (
  account_id TEXT NOT NULL PRIMARY KEY,
  body TEXT NOT NULL,
  edited_by TEXT NOT NULL,
  version INTEGER NOT NULL,
  mails INTEGER NOT NULL,
  lessons INTEGER NOT NULL,
  note TEXT NOT NULL,
  changed_at TEXT
);

-- What the owner has changed in a draft before sending it, as two lists of sentences in JSON; both are empty if it was
-- sent as it was written. message_id is Gmail's, of the message that was sent.
CREATE TABLE voice_lessons (
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  removed TEXT NOT NULL,
  added TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (account_id, message_id)
);

CREATE INDEX voice_lessons_at ON voice_lessons (account_id, at);
