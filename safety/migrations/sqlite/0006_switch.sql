-- Whether all is stopped: one row, from the first stop on.
CREATE TABLE safety_switch (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  stopped INTEGER NOT NULL,
  undos INTEGER NOT NULL,
  changed_by TEXT NOT NULL,
  why TEXT NOT NULL,
  changed_at TEXT NOT NULL
);

-- Who has stopped and resumed what, and why; rows are only added.
CREATE TABLE safety_events (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  account_id TEXT NOT NULL,
  source TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  why TEXT NOT NULL,
  created_at TEXT NOT NULL
);
