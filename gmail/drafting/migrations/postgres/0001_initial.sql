-- Which labels of a thread were put on as buttons and wait for their work, and up to which change of Gmail's history
-- changes of the label were taken note of. The ids are Gmail's, but for account_id.
CREATE TABLE reply_buttons (
  account_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  button TEXT NOT NULL,
  pressed BIGINT NOT NULL,
  history_id BIGINT NOT NULL,
  PRIMARY KEY (account_id, thread_id, button)
);

-- The texts of a reply until it has ended: of each turn what the writer wrote and what a person had made of the draft
-- before. draft_sha256 is of the draft that contains the text, base_sha256 of the draft that it takes the place of.
CREATE TABLE reply_texts (
  account_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  need BIGINT NOT NULL,
  turn BIGINT NOT NULL,
  author TEXT NOT NULL,
  body TEXT NOT NULL,
  instruction TEXT NOT NULL,
  draft_sha256 TEXT NOT NULL,
  base_sha256 TEXT NOT NULL,
  written_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, thread_id, need, turn, author)
);
