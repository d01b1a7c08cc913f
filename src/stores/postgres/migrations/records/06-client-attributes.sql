ALTER TABLE tollgate.clients ADD COLUMN may_set_attributes boolean NOT NULL DEFAULT false;
