-- What is personal in a deleted account goes in two steps: email address and password hash at once, the rest after some days.
ALTER TABLE users ADD COLUMN purged_at timestamptz;
UPDATE users SET email = NULL, password_hash = NULL, deleted_at = coalesce(deleted_at, now()) WHERE status = 'deleted';
CREATE INDEX users_to_purge ON users (deleted_at) WHERE status = 'deleted' AND purged_at IS NULL;
CREATE INDEX former_memberships ON memberships (user_id) WHERE status = 'removed';
CREATE INDEX excuses_in_own_words ON excuses (family_id, author_id) WHERE text IS NOT NULL;

GRANT DELETE ON preferences, child_settings TO nagz_server;
GRANT UPDATE (text) ON excuses TO nagz_server;
