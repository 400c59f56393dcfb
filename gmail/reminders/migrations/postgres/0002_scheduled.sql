-- Those that are to come are counted, since they are bounded.
CREATE INDEX reminders_scheduled ON reminders (user_id) WHERE state = 'scheduled';
