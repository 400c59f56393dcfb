-- The action that answers the sender: it gives the turn back if it ends without having sent anything. Empty for answers
-- from before.
ALTER TABLE absence_answers ADD COLUMN action_id TEXT NOT NULL DEFAULT '';

CREATE INDEX absence_answers_action ON absence_answers (account_id, action_id);
