-- What was decided without being sure is little of all decisions: what no model decided is sure.
CREATE INDEX decisions_confidence ON decisions (confidence) WHERE confidence < 1;
