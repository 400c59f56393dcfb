-- What each call was about, such as a message; the hash of the prompt, without its random marks; and what the model answered, cut
-- to 8000 characters.
ALTER TABLE llm_calls ADD COLUMN about TEXT NOT NULL DEFAULT '';
ALTER TABLE llm_calls ADD COLUMN prompt TEXT NOT NULL DEFAULT '';
ALTER TABLE llm_calls ADD COLUMN answer TEXT;

CREATE INDEX llm_calls_about ON llm_calls (about);
