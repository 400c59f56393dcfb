-- A day of actions is found among those of years.
CREATE INDEX actions_created ON actions (created_at, id);

-- Models decide about little of the mail.
CREATE INDEX decisions_models ON decisions (account_id, created_at) WHERE source = 'llm';
