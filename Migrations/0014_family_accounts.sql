-- The family an account was made in, by one of its guardians; null for an account that a person opened. Only guardians of that
-- family may add such an account again, set its user name and PIN, or delete it, and only while it has no email and no password.
ALTER TABLE users ADD COLUMN made_in_family uuid REFERENCES families;

-- Accounts of before, as the audit log tells it; where it does not go back so far, by the first family they were in.
UPDATE users SET made_in_family = coalesce(
    (SELECT e.family_id FROM audit_entry e WHERE e.kind = 'member.created' AND e.subject = users.pseudonym
     ORDER BY e.at LIMIT 1),
    (SELECT m.family_id FROM memberships m WHERE m.user_id = users.id ORDER BY m.joined_at, m.family_id LIMIT 1))
WHERE email IS NULL AND password_hash IS NULL AND status <> 'deleted';

-- User names and PINs that a guardian could set for other accounts open nothing any more, and the sessions they opened end.
CREATE TEMPORARY TABLE foreign_credentials ON COMMIT DROP AS
    SELECT k.family_id, k.user_id FROM child_credentials k JOIN users u ON u.id = k.user_id
    WHERE u.made_in_family IS DISTINCT FROM k.family_id OR u.email IS NOT NULL OR u.password_hash IS NOT NULL;
UPDATE sessions SET revoked_at = now()
WHERE is_child AND revoked_at IS NULL AND user_id IN (SELECT user_id FROM foreign_credentials);
DELETE FROM child_credentials k USING foreign_credentials f WHERE k.family_id = f.family_id AND k.user_id = f.user_id;
