-- Somebody under 13 is in a guardian's family or waits for a guardian: whichever way the membership ends, the account waits
-- again from that act on. Age counts in full years of the UTC calendar, as at sign-up.
CREATE FUNCTION wait_for_guardian() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE users SET status = 'pending_guardian_consent'
    WHERE id = NEW.user_id AND status = 'active'
        AND date_of_birth > (NEW.removed_at AT TIME ZONE 'UTC')::date - interval '13 years';
    RETURN NULL;
END $$;
CREATE TRIGGER young_account_waits AFTER UPDATE OF status ON memberships
    FOR EACH ROW WHEN (NEW.status = 'removed' AND OLD.status = 'active') EXECUTE FUNCTION wait_for_guardian();

-- Those whom no family has any more.
UPDATE users SET status = 'pending_guardian_consent'
WHERE status = 'active' AND date_of_birth > (now() AT TIME ZONE 'UTC')::date - interval '13 years'
    AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = users.id AND m.status = 'active');
