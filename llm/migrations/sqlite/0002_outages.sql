-- Why a model is not asked: one row for each model whose provider refuses, under the empty account_id, and for each budget that is
-- spent, under the account it belongs to. until_at is when the budget begins anew; it is null until somebody sets things right. An
-- answer of the model deletes its row.
CREATE TABLE llm_outages (
  model TEXT NOT NULL,
  account_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  failure TEXT NOT NULL,
  began_at TEXT NOT NULL,
  last_at TEXT NOT NULL,
  calls INTEGER NOT NULL,
  until_at TEXT,
  PRIMARY KEY (model, account_id)
);
