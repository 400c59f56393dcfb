-- What a person has granted, with blanks between; empty: it is not known.
ALTER TABLE accounts ADD COLUMN granted_scopes TEXT NOT NULL DEFAULT '';
