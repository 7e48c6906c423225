-- Housekeeping locks what it deletes, so that several instances skip each other's rows. That needs the right to update, which
-- the server lacked here: nothing that was kept for a time only was ever deleted.
GRANT UPDATE (created_at) ON idempotency_keys TO nagz_server;
