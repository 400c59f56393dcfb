-- A host decides on its own account.
ALTER TABLE decisions DROP CONSTRAINT decisions_source_check;

ALTER TABLE decisions ADD CONSTRAINT decisions_source_check CHECK (source IN ('deterministic', 'llm', 'host', 'none'));
