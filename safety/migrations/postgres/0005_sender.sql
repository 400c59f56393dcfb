-- What was done about the mail of one sender is few of all actions, or none.
CREATE INDEX decisions_sender ON decisions (sender);
