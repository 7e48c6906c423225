-- A draft that a later import edits becomes part of that import.
GRANT UPDATE (import_id) ON drafts TO nagz_server;
