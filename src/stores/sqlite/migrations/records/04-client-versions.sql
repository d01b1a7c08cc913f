ALTER TABLE clients ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
UPDATE clients SET version = (SELECT last FROM record_versions) + (SELECT count(*) FROM clients AS other WHERE other.id <= clients.id);
UPDATE record_versions SET last = last + (SELECT count(*) FROM clients);
