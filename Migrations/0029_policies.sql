-- What the owners of a policy agree on: a change that waits for them, and what each approval approves.
ALTER TABLE policies
    -- 1 more with every change that the owners made.
    ADD COLUMN version              integer NOT NULL DEFAULT 1 CHECK (version >= 1),
    -- The ledger's number of the last change, of a proposal too: what the entity tag is made of.
    ADD COLUMN changed_by           bigint NOT NULL DEFAULT 0,
    -- Since one of two owners left: the other may not widen the policy before another guardian agrees to be co-owner.
    ADD COLUMN awaits_co_owner      boolean NOT NULL DEFAULT false,
    -- The whole policy as it would be, until every owner approved it.
    ADD COLUMN proposal_id          uuid,
    ADD COLUMN proposed_by          uuid REFERENCES users,
    ADD COLUMN proposed_at          timestamptz,
    ADD COLUMN proposed_owners      uuid[] CHECK (cardinality(proposed_owners) BETWEEN 1 AND 2),
    -- Under the names of the API.
    ADD COLUMN proposed_constraints jsonb CHECK (jsonb_typeof(proposed_constraints) = 'object'),
    ADD CONSTRAINT policies_proposal_is_whole CHECK
        (num_nonnulls(proposal_id, proposed_by, proposed_at, proposed_owners, proposed_constraints) IN (0, 5)),
    ADD CONSTRAINT policies_awaits_co_owner CHECK (NOT awaits_co_owner OR cardinality(owners) = 1);

-- Each owner approves a proposal once; where nothing is proposed, the version in force once.
ALTER TABLE policy_approvals
    ADD COLUMN policy_version integer NOT NULL DEFAULT 1,
    ADD COLUMN proposal_id    uuid,
    DROP CONSTRAINT policy_approvals_family_id_policy_id_approver_id_key;
CREATE UNIQUE INDEX one_approval ON policy_approvals
    (family_id, policy_id, approver_id, policy_version, proposal_id) NULLS NOT DISTINCT;

-- A comment goes with its author's account.
CREATE INDEX policy_approvals_of_approver ON policy_approvals (approver_id);
GRANT UPDATE (comment) ON policy_approvals TO nagz_server;
