-- The earlier imports of an item that a later import has changed: a request that is sent again does not bring the old
-- content back.
ALTER TABLE inputs ADD COLUMN earlier_imports uuid[] NOT NULL DEFAULT '{}';
GRANT UPDATE (earlier_imports) ON inputs TO nagz_server;
