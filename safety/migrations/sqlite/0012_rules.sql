-- What the log says about rules and directions: the last entry about one is looked up for each decision of a rule.
CREATE INDEX audit_entries_rules ON audit_entries (kind, subject_id, rev)
WHERE kind IN ('rule', 'rules_version', 'direction', 'llm_rule', 'adoption');
