-- The latest report about the mail of an account.
CREATE TABLE onboarding_reports (
  account_id TEXT NOT NULL PRIMARY KEY,
  made_at TIMESTAMPTZ NOT NULL,
  report TEXT NOT NULL
);
