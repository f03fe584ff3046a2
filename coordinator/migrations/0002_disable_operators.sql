-- A person who leaves is disabled, not deleted: the audit goes on naming them.
ALTER TABLE operators ADD COLUMN disabled_at DATETIME(6) NULL AFTER created_at
