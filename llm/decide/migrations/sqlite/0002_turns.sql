-- How many messages of a day a model was asked about: of a stranger's domain or address, and of all in the row without a sender.
CREATE TABLE llm_turns (
  account_id TEXT NOT NULL,
  day TEXT NOT NULL,
  sender TEXT NOT NULL,
  messages INTEGER NOT NULL,
  PRIMARY KEY (account_id, day, sender)
);
