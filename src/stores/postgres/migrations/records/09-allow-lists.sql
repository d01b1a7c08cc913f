ALTER TABLE tollgate.teams ADD COLUMN allow_lists json;
