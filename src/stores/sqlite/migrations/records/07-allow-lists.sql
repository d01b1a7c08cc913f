ALTER TABLE teams ADD COLUMN allow_lists TEXT;
