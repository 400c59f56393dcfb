-- What people have been told: a row for each kind and subject, and no second notice of it.
CREATE TABLE notices (
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  told_at TEXT NOT NULL,
  PRIMARY KEY (kind, subject)
) WITHOUT ROWID;
CREATE INDEX notices_told ON notices (told_at);
