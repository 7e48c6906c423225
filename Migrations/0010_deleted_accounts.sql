-- A deleted account is a member of no family. Whichever of the two comes second is refused: a membership looks at the account
-- and locks it, so that a deletion at the same moment is waited for, or waits itself and then finds the membership.
CREATE FUNCTION refuse_membership_of_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    account_status text;
BEGIN
    SELECT status INTO account_status FROM users WHERE id = NEW.user_id FOR SHARE;
    IF account_status = 'deleted' THEN
        RAISE EXCEPTION 'a deleted account is a member of no family'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'deleted_is_no_member';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER deleted_is_no_member AFTER INSERT OR UPDATE OF status ON memberships
    FOR EACH ROW WHEN (NEW.status = 'active') EXECUTE FUNCTION refuse_membership_of_deleted();

CREATE FUNCTION refuse_deletion_of_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM memberships WHERE user_id = NEW.id AND status = 'active') THEN
        RAISE EXCEPTION 'a deleted account is a member of no family'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'deleted_is_no_member';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER deleted_is_no_member AFTER UPDATE OF status ON users
    FOR EACH ROW WHEN (NEW.status = 'deleted' AND OLD.status <> 'deleted') EXECUTE FUNCTION refuse_deletion_of_member();
