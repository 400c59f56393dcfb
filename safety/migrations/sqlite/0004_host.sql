-- A host decides on its own account. SQLite changes a CHECK only by a copy of the table, which others refer to, or by the text of
-- the schema, as its documentation of ALTER TABLE describes for changes that no stored row is affected by. The column that comes and
-- goes has other connections read the schema again.
PRAGMA writable_schema = ON;

UPDATE sqlite_schema
SET sql = REPLACE(sql, '(''deterministic'', ''llm'', ''none'')', '(''deterministic'', ''llm'', ''host'', ''none'')')
WHERE type = 'table'
  AND name = 'decisions';

PRAGMA writable_schema = RESET;

ALTER TABLE decisions ADD COLUMN reread INTEGER;

ALTER TABLE decisions DROP COLUMN reread;
