-- What decisions refer to stays when a version is deleted, so rule_history no longer refers to rule_versions.
ALTER TABLE rule_history DROP CONSTRAINT rule_history_version_fkey;
