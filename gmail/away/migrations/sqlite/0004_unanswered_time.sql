-- Old reasons are deleted.
CREATE INDEX absence_unanswered_time ON absence_unanswered (decided_at);
