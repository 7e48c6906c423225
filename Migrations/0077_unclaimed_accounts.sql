-- Accounts that wait for a guardian, by their age: those that no family admits are deleted after thirty days.
-- lock: users_waiting: a second for a million accounts; sign-ups and changes of accounts wait that long, reads do not.

CREATE INDEX users_waiting ON users (created_at) WHERE status = 'pending_guardian_consent';
