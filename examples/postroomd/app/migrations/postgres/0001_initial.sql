-- The row that a health check writes: that a disk is full is noticed by writing alone.
CREATE TABLE postroomd_probes (
  id INTEGER NOT NULL PRIMARY KEY,
  written BIGINT NOT NULL
);
