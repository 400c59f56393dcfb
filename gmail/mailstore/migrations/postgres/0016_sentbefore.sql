-- What a mailbox had sent when its account was removed, for when it comes back: one row a recipient. mailbox, what (the message and the
-- type of what was sent), target (the address) and recipient (who that is to the limits) are hashes; see sentbefore.go. certain is 0
-- where it is not known whether the message was sent.
CREATE TABLE sent_before (
  mailbox TEXT NOT NULL,
  what TEXT NOT NULL,
  target TEXT NOT NULL,
  action_id TEXT NOT NULL,
  recipient TEXT NOT NULL,
  message_type TEXT NOT NULL CHECK (message_type IN ('forward', 'reply')),
  certain INTEGER NOT NULL CHECK (certain IN (0, 1)),
  sent_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (mailbox, what, target, action_id)
);

CREATE INDEX sent_before_recipient ON sent_before (mailbox, recipient, sent_at);

-- What an account has sent is read when it is removed.
CREATE INDEX outbound_account ON outbound_messages (account_id);
