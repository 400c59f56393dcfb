-- What people have been told: a row for each kind and subject, and no second notice of it.
CREATE TABLE notices (
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  told_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (kind, subject)
);
CREATE INDEX notices_told ON notices (told_at);
