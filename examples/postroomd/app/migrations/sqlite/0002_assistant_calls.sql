-- The calls of assistants by MCP, as they were answered.
CREATE TABLE assistant_calls (
  id TEXT NOT NULL PRIMARY KEY,
  caller TEXT NOT NULL,
  tool TEXT NOT NULL,
  arguments_sha256 TEXT NOT NULL,
  result_bytes INTEGER NOT NULL,
  proposed INTEGER NOT NULL, -- how many actions
  untrusted INTEGER NOT NULL, -- 1: the answer has mail of a sender who is not known or not verified
  error TEXT, -- NULL: none
  created_at TEXT NOT NULL
);
CREATE INDEX assistant_calls_caller ON assistant_calls (caller, created_at);
