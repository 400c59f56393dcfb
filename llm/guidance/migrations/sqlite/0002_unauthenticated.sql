-- 1: an instruction for a sender is also about mail whose sender is not verified.
ALTER TABLE instructions ADD COLUMN unauthenticated INTEGER NOT NULL DEFAULT 0;
