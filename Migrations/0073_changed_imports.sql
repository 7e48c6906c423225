-- An imported item that has changed is stored again, with the draft that the change became.
GRANT UPDATE (fingerprint, import_id, draft_id, received_at) ON inputs TO nagz_server;
