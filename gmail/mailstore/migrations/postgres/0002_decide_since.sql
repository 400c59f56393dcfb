-- Mail that Gmail received before is stored, and not decided about. NULL: all mail is decided about.
ALTER TABLE accounts ADD COLUMN decide_since timestamptz;
