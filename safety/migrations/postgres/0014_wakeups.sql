-- The job of the wake-up that has the turn, with the snooze as its action; empty if an action has it.
ALTER TABLE message_turns ADD COLUMN job_id TEXT;
