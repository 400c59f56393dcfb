-- When the model was asked, and nothing was learned: the schedule asks it once a month, whatever it answers.
ALTER TABLE voice_profiles ADD COLUMN tried_at TEXT;
